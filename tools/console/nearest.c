/* nearest.c - the word that a user may have meant: see nearest.h. */
#include "console/nearest.h"

#include <string.h>

unsigned mst_edit_distance(const char *a, const char *b)
{
    unsigned row[32], diagonal, above, j;
    size_t length = strlen(b);

    if (length >= sizeof row / sizeof *row)
        return (unsigned)length;
    for (j = 0; j <= length; j++)
        row[j] = j;
    for (; *a != '\0'; a++) {
        diagonal = row[0]++;
        for (j = 1; j <= length; j++) {
            above = row[j];
            if (*a != b[j - 1]) {
                diagonal = diagonal < above ? diagonal : above;
                diagonal = (diagonal < row[j - 1] ? diagonal : row[j - 1]) + 1;
            }
            row[j] = diagonal;
            diagonal = above;
        }
    }
    return row[length];
}

const char *mst_nearest_option(const struct option *options, const char *word)
{
    unsigned distance, best = MST_SLIP_MAX + 1;
    const char *nearest = NULL;
    char name[32];

    if (strncmp(word, "--", 2) != 0 || strcspn(word + 2, "=") >= sizeof name)
        return NULL;
    memcpy(name, word + 2, strcspn(word + 2, "="));
    name[strcspn(word + 2, "=")] = '\0';
    for (; options->name != NULL; options++) {
        distance = mst_edit_distance(name, options->name);
        if (distance < best) {
            best = distance;
            nearest = options->name;
        }
    }
    return nearest;
}

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

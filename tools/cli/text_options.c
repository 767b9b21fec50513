/* text_options.c - --format NAME, --percentiles LIST, --color WHEN: see text_options.h. */
#include "cli/text_options.h"

#include <stdio.h>
#include <string.h>

#include "analysis/summary.h"
#include "console/diag.h"

/* An error that lists the names: "text, json or html". */
static int no_format(const char *verb, const char *const *names, const char *argument)
{
    char list[256] = "";
    size_t used = 0, i;

    for (i = 0; names[i] != NULL && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0 ? "" : names[i + 1] != NULL ? ", " : " or ", names[i]);
    return mst_usage_error(verb, "there is no format \"%s\": expected %s", argument, list);
}

int mst_output_format_read(size_t *nth, const char *verb, const char *const *names,
                           const char *argument)
{
    size_t i;

    for (i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], argument) == 0) {
            *nth = i;
            return MST_EXIT_OK;
        }
    return no_format(verb, names, argument);
}

/* Its number without the p: "99.9". MST_PERCENTILE_COUNT: there is none such. */
static enum mst_percentile percentile_of(const char *number, size_t length)
{
    enum mst_percentile p;

    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        if (strlen(mst_percentile_names[p] + 1) == length &&
            strncmp(mst_percentile_names[p] + 1, number, length) == 0)
            break;
    return p;
}

int mst_percentiles_read(unsigned *percentiles, const char *verb, const char *argument)
{
    enum mst_percentile p;
    size_t length;

    *percentiles = 0;
    do {
        length = strcspn(argument, ",");
        p = percentile_of(argument, length);
        if (p == MST_PERCENTILE_COUNT)
            return mst_usage_error(verb, "--percentiles takes some of 50, 90, 95, 99 and 99.9 with "
                                   "commas between them, and \"%.*s\" is none of these",
                                   (int)length, argument);
        *percentiles |= 1u << p;
        argument += length;
    } while (*argument++ == ',');
    return MST_EXIT_OK;
}

int mst_colour_read(enum mst_colour *colour, const char *verb, const char *argument)
{
    static const char *const names[MST_COLOUR_COUNT] = {
        [MST_COLOUR_AUTO] = "auto", [MST_COLOUR_ALWAYS] = "always", [MST_COLOUR_NEVER] = "never",
    };
    enum mst_colour c;

    for (c = 0; c < MST_COLOUR_COUNT; c++)
        if (strcmp(argument, names[c]) == 0) {
            *colour = c;
            return MST_EXIT_OK;
        }
    return mst_usage_error(verb, "--color takes auto, always or never, not \"%s\"", argument);
}

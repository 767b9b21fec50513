/* format.c - times of the day, the name of a file, a text's ends: see format.h. */
#include "console/format.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "segment/format.h"

struct mst_formatted mst_format_clock(uint64_t wall_ns)
{
    struct mst_formatted h = { "-" };
    time_t seconds = (time_t)(wall_ns / MST_NS_PER_S);
    struct tm tm;

    if (wall_ns == MST_UNKNOWN || localtime_r(&seconds, &tm) == NULL ||
        strftime(h.text, sizeof h.text, "%H:%M:%S", &tm) == 0)
        strcpy(h.text, "-");
    return h;
}

struct mst_formatted mst_format_instant(uint64_t wall_ns)
{
    struct mst_formatted h;
    time_t seconds = (time_t)(wall_ns / MST_NS_PER_S);
    struct tm tm;

    if (wall_ns == MST_UNKNOWN || gmtime_r(&seconds, &tm) == NULL ||
        strftime(h.text, sizeof h.text, "%F %T UTC", &tm) == 0)
        strcpy(h.text, "-");
    return h;
}

struct mst_formatted mst_format_stamp(void)
{
    struct mst_formatted h;
    time_t now = time(NULL);
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(h.text, sizeof h.text, "%Y%m%d-%H%M%S", &tm);
    return h;
}

void mst_format_ends(FILE *out, const char *text, size_t count)
{
    size_t lines = 0, line = 0;
    const char *at, *eol;

    for (at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    for (at = text; *at != '\0'; at = *eol == '\n' ? eol + 1 : eol, line++) {
        eol = strchrnul(at, '\n');
        if (line < count || line + count >= lines)
            fprintf(out, "  %.*s\n", (int)(eol - at), at);
        else if (line == count)
            fputs("  ...\n", out);
    }
}

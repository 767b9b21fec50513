/* style.c - weight and colour on a terminal: see style.h. */
#include "console/style.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_styled[MST_STYLED_COUNT];

static bool wants_styles(enum mst_colour colour, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    if (colour != MST_COLOUR_AUTO)
        return colour == MST_COLOUR_ALWAYS;
    return (no_color == NULL || no_color[0] == '\0') && term != NULL && term[0] != '\0' &&
           strcmp(term, "dumb") != 0 && fd >= 0 && isatty(fd);
}

void mst_style_use(enum mst_colour colour, int results_fd)
{
    is_styled[MST_STYLED_RESULTS] = wants_styles(colour, results_fd);
    is_styled[MST_STYLED_MESSAGES] = wants_styles(colour, STDERR_FILENO);
}

const char *mst_style_begin(enum mst_styled where, enum mst_style style)
{
    static const char *const sequences[] = {
        [MST_STYLE_PLAIN] = "", [MST_STYLE_STRONG] = "\033[1m", [MST_STYLE_WARNING] = "\033[33m",
        [MST_STYLE_ERROR] = "\033[31m",
    };

    return is_styled[where] ? sequences[style] : "";
}

const char *mst_style_end(enum mst_styled where, enum mst_style style)
{
    return is_styled[where] && style != MST_STYLE_PLAIN ? "\033[0m" : "";
}

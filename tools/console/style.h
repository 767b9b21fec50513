/* style.h - weight and colour on a terminal.
 *
 * Nothing depends on a style: what it sets off says the same in words. Styles are off until
 * mst_style_use() is called.
 */
#ifndef MPMSTAT_STYLE_H
#define MPMSTAT_STYLE_H

enum mst_style { MST_STYLE_PLAIN, MST_STYLE_STRONG, MST_STYLE_WARNING, MST_STYLE_ERROR };

/* What mpmstat writes: results, and messages to stderr. */
enum mst_styled { MST_STYLED_RESULTS, MST_STYLED_MESSAGES, MST_STYLED_COUNT };

enum mst_colour { MST_COLOUR_AUTO, MST_COLOUR_ALWAYS, MST_COLOUR_NEVER, MST_COLOUR_COUNT };

/* Decides where there are styles from now on. AUTO: on a terminal, unless NO_COLOR is set to any
 * text, or TERM is not set or "dumb". results_fd is where results go; -1: into a file that AUTO
 * leaves plain. */
void mst_style_use(enum mst_colour colour, int results_fd);

/* What to write before and behind what has the style: "" where it is plain there. */
const char *mst_style_begin(enum mst_styled where, enum mst_style style);
const char *mst_style_end(enum mst_styled where, enum mst_style style);

#endif

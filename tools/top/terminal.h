/* terminal.h - the terminal: curses draws only what has changed since the screen before. */
#ifndef MPMSTAT_TOP_TERMINAL_H
#define MPMSTAT_TOP_TERMINAL_H

#include "base/error.h"
#include "top/view.h"

/* Keys that are not characters. */
enum mst_top_key {
    MST_TOP_KEY_NONE = 0,
    MST_TOP_KEY_TAB = '\t', MST_TOP_KEY_ENTER = '\n', MST_TOP_KEY_ESCAPE = 27,
    MST_TOP_KEY_UP = 1000, MST_TOP_KEY_DOWN, MST_TOP_KEY_PAGE_UP, MST_TOP_KEY_PAGE_DOWN,
    MST_TOP_KEY_HOME, MST_TOP_KEY_END, MST_TOP_KEY_BACKSPACE,
    MST_TOP_KEY_OTHER        /* a new size, or a key that means nothing */
};

/* Takes the terminal over; signals have their handlers already (stop.h). -1 with a sentence. */
int  mst_top_terminal_begin(char error[MST_ERROR_MAX]);
void mst_top_terminal_end(void);

void mst_top_terminal_size(unsigned *width, unsigned *height);
void mst_top_terminal_draw(const struct mst_top_screen *screen);

/* The next key, a character or an enum mst_top_key; MST_TOP_KEY_NONE: none was pressed. */
int  mst_top_terminal_key(void);

#endif

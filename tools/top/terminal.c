/* terminal.c - the terminal by ncurses: see terminal.h. */
#include "top/terminal.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>

#define ESCAPE_MS 50   /* after which an Esc does not begin a key's sequence */

enum { PAIR_ALARM = 1, PAIR_HEADING };

static SCREEN *terminal;
static bool    has_colours;

/* Without a terminal's own colours, or where NO_COLOR forbids them, weight alone tells. */
static void begin_colours(void)
{
    const char *forbidden = getenv("NO_COLOR");

    has_colours = has_colors() && (forbidden == NULL || forbidden[0] == '\0') &&
                  start_color() == OK && use_default_colors() == OK &&
                  init_pair(PAIR_ALARM, COLOR_RED, -1) == OK &&
                  init_pair(PAIR_HEADING, COLOR_CYAN, -1) == OK;
}

int mst_top_terminal_begin(char error[MST_ERROR_MAX])
{
    const char *name = getenv("TERM");

    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL)
        return mst_fail(error, "curses does not know this terminal (TERM=%.64s): set TERM, for "
                        "example to vt100, or take --batch", name != NULL ? name : "");
    begin_colours();
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    return 0;
}

void mst_top_terminal_end(void)
{
    if (terminal == NULL)
        return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

void mst_top_terminal_size(unsigned *width, unsigned *height)
{
    int rows, columns;

    getmaxyx(stdscr, rows, columns);
    *width = columns > 0 ? (unsigned)columns : 1;
    *height = rows > 0 ? (unsigned)rows : 1;
}

static attr_t attributes_of(enum mst_top_look look)
{
    switch (look) {
    case MST_TOP_TITLE:   return A_REVERSE;
    case MST_TOP_HEADING: return has_colours ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_HEADING) : A_BOLD;
    case MST_TOP_FAINT:   return A_DIM;
    case MST_TOP_ALARM:   return has_colours ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_ALARM) : A_BOLD;
    default:              return A_NORMAL;
    }
}

void mst_top_terminal_draw(const struct mst_top_screen *screen)
{
    unsigned i;

    erase();
    for (i = 0; i < screen->count; i++) {
        attrset((int)attributes_of(screen->lines[i].look));
        mvaddstr((int)i, 0, screen->lines[i].text);
    }
    attrset(A_NORMAL);
    refresh();
}

int mst_top_terminal_key(void)
{
    int key = getch();

    switch (key) {
    case ERR:           return MST_TOP_KEY_NONE;
    case '\r':
    case '\n':
    case KEY_ENTER:     return MST_TOP_KEY_ENTER;
    case '\b':
    case 127:
    case KEY_BACKSPACE: return MST_TOP_KEY_BACKSPACE;
    case KEY_UP:        return MST_TOP_KEY_UP;
    case KEY_DOWN:      return MST_TOP_KEY_DOWN;
    case KEY_PPAGE:     return MST_TOP_KEY_PAGE_UP;
    case KEY_NPAGE:     return MST_TOP_KEY_PAGE_DOWN;
    case KEY_HOME:      return MST_TOP_KEY_HOME;
    case KEY_END:       return MST_TOP_KEY_END;
    default:            return key > 0 && key < 256 ? key : MST_TOP_KEY_OTHER;
    }
}

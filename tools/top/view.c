/* view.c - the model as lines of text: see view.h.
 *
 * From the top: a title, what holds the workers, two lines for each server, times of phases, what
 * PHP's time went into, the lists, events, and a line for the keys. The list that has the keys gets
 * at least half of what the lists and events have together, where it needs it.
 */
#include "top/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "console/format.h"
#include "top/rows.h"

#define MANY UINT32_MAX   /* columns: as many as there are */

/* The next line of the screen; one that is drawn nowhere where there is no room. */
static struct mst_top_line *next_line(struct mst_top_screen *screen,
                                      const struct mst_top_view *view, enum mst_top_look look)
{
    static struct mst_top_line nowhere;
    bool fits = screen->count < view->height && screen->count < MST_TOP_LINES_MAX;
    struct mst_top_line *line = fits ? &screen->lines[screen->count++] : &nowhere;

    mst_top_line_begin(line, view->width, look);
    return line;
}

struct clock_text { char text[24]; };

/* "12:34:56", local time, with the day where that is another one than today's; "-". */
static struct clock_text clock_text(uint64_t wall_ns, uint64_t now_ns)
{
    struct clock_text clock = { "-" };
    time_t seconds = (time_t)(wall_ns / MST_NS_PER_S), now = (time_t)(now_ns / MST_NS_PER_S);
    struct tm then, today;

    if (wall_ns == MST_UNKNOWN || localtime_r(&seconds, &then) == NULL ||
        localtime_r(&now, &today) == NULL)
        return clock;
    strftime(clock.text, sizeof clock.text,
             then.tm_yday == today.tm_yday && then.tm_year == today.tm_year ? "%H:%M:%S"
                                                                           : "%m-%d %H:%M:%S",
             &then);
    return clock;
}

/* Figures of before are faint. */
static enum mst_top_look look_of(const struct mst_top_server *s)
{
    return s->life == MST_TOP_GONE || s->life == MST_TOP_SILENT ? MST_TOP_FAINT : MST_TOP_PLAIN;
}

/* ---- servers --------------------------------------------------------------------------------- */

static void draw_title(struct mst_top_screen *screen, const struct mst_top_view *view)
{
    struct mst_top_line *line = next_line(screen, view, MST_TOP_TITLE);

    mst_top_add(line, "mpmstat top  %s  every %s", clock_text(view->wall_ns, view->wall_ns).text,
                mst_format_time(view->delay_ns).text);
    if (view->filter[0] != '\0' || view->is_typing) {
        mst_top_add(line, "  only \"");
        mst_top_add_text(line, view->filter, MANY, false);
        mst_top_add(line, "\"");
    }
    mst_top_add_right(line, view->is_paused ? "  PAUSED" : "");
}

#define SENTENCE_LINES 3u

/* As many bytes of the text as fit between two words, or else as there are. */
static size_t fitting(const char *text, size_t width)
{
    size_t length = strlen(text), at = width;

    if (length <= width)
        return length;
    while (at > 0 && text[at] != ' ')
        at--;
    return at > 0 ? at : width;
}

/* What holds the workers. */
static void draw_sentence(struct mst_top_screen *screen, const struct mst_top *top,
                          const struct mst_top_view *view)
{
    const char *rest = top->sentence;
    char part[MST_HELD_MAX];
    unsigned i;
    size_t n;

    for (i = 0; i < SENTENCE_LINES && *rest != '\0' && view->width > 0; i++) {
        n = i + 1 < SENTENCE_LINES ? fitting(rest, view->width) : strlen(rest);
        snprintf(part, sizeof part, "%.*s", (int)n, rest);
        mst_top_add_text(next_line(screen, view, top->is_stuck ? MST_TOP_ALARM : MST_TOP_PLAIN),
                         part, MANY, false);
        rest += n + strspn(rest + n, " ");
    }
}

/* The fullest queue. NULL: none is known. */
static const struct mst_top_queue *fullest(const struct mst_top_server *s)
{
    const struct mst_top_queue *most = NULL;
    size_t i;

    for (i = 0; i < s->queue_count; i++)
        if (s->queues[i].queue != MST_UNKNOWN &&
            (most == NULL || s->queues[i].queue > most->queue))
            most = &s->queues[i];
    return most;
}

static void add_figures(struct mst_top_line *line, const struct mst_top_server *s)
{
    const struct mst_top_queue *queue = fullest(s);

    mst_top_add(line, "  %s req/s  %s of %s busy", mst_format_milli(s->rate_milli).text,
                mst_format_count(s->busy).text, mst_format_count(s->limit).text);
    if (s->was_full) {
        mst_top_add(line, ": ALL");
        line->look = MST_TOP_ALARM;
    }
    if (queue != NULL)
        mst_top_add(line, "  queue %s of %s", mst_format_count(queue->queue).text,
                    mst_format_count(queue->limit).text);
    if (s->connections != MST_UNKNOWN && !s->is_php)
        mst_top_add(line, "  %" PRIu64 " connection%s", s->connections,
                    s->connections == 1 ? "" : "s");
}

static void draw_server(struct mst_top_screen *screen, const struct mst_top *top, size_t which,
                        const struct mst_top_view *view)
{
    const struct mst_top_server *s = &top->servers[which];
    struct mst_top_line *line = next_line(screen, view, MST_TOP_PLAIN);

    mst_top_add_server(line, top, which);
    if (s->is_known) {
        mst_top_add(line, "%s ", s->is_php ? "php" : "apache");
        mst_top_add_text(line, s->kind, 16, false);
    }
    switch (s->life) {
    case MST_TOP_UNSEEN:
        mst_top_add(line, "not read yet");
        break;
    case MST_TOP_RUNNING:
        add_figures(line, s);
        break;
    case MST_TOP_GONE:
        line->look = MST_TOP_ALARM;
        mst_top_add(line, "  GONE since %s; its last figures are marked !",
                    s->since_ns != MST_UNKNOWN ? clock_text(s->since_ns, view->wall_ns).text
                                               : "before the first look");
        break;
    case MST_TOP_SILENT:
        line->look = MST_TOP_ALARM;
        mst_top_add(line, "  NOT READ since %s: ", clock_text(s->since_ns, view->wall_ns).text);
        mst_top_add_text(line, s->problem, MANY, false);
        break;
    }
}

/* Its workers by state, how many are wanted (of an FPM its pools' rows say that), and where it is
 * read. */
static void draw_states(struct mst_top_screen *screen, const struct mst_top *top, size_t which,
                        const struct mst_top_view *view)
{
    const struct mst_top_server *s = &top->servers[which];
    struct mst_top_line *line = next_line(screen, view, look_of(s));
    unsigned i;

    mst_top_add(line, "   ");
    for (i = 0; i < MST_STATE_COUNT && s->is_known; i++)
        if (s->states[i] != MST_UNKNOWN && (s->states[i] > 0 || i == MST_STATE_IDLE))
            mst_top_add(line, " %" PRIu64 " %s ", s->states[i], mst_state_names[i]);
    if (s->is_known && !s->is_php)
        mst_top_add(line, " %s wanted ", mst_format_count(s->wanted).text);
    mst_top_add(line, " ");
    mst_top_add_text(line, s->name, MANY, false);
    if (s->is_url)
        mst_top_add_right(line, "  (a URL has no p99)");
}

/* At most a third of the screen. */
static void draw_servers(struct mst_top_screen *screen, const struct mst_top *top,
                         const struct mst_top_view *view)
{
    size_t room = view->height / 3, i;
    bool has_states = 2 * top->server_count <= room;
    size_t shown = has_states || top->server_count <= room ? top->server_count
                                                           : room > 1 ? room - 1 : 0;

    for (i = 0; i < shown; i++) {
        draw_server(screen, top, i, view);
        if (has_states)
            draw_states(screen, top, i, view);
    }
    if (shown < top->server_count)
        mst_top_add(next_line(screen, view, MST_TOP_FAINT), "    +%zu servers",
                    top->server_count - shown);
}

/* ---- where the time went --------------------------------------------------------------------- */

static void draw_phases(struct mst_top_screen *screen, const struct mst_top *top,
                        const struct mst_top_view *view)
{
    static const enum mst_phase phases[] = {
        MST_PHASE_QUEUE, MST_PHASE_READ, MST_PHASE_HANDLE, MST_PHASE_SEND, MST_PHASE_PHP_WAIT,
        MST_PHASE_PHP_RUN, MST_PHASE_TOTAL,
    };
    struct mst_top_line *line;
    size_t which, i, drawn = 0;

    for (which = 0; which < top->server_count && drawn < view->height / 6; which++) {
        const struct mst_top_server *s = &top->servers[which];

        if (!s->is_known)
            continue;
        if (drawn++ == 0) {
            line = next_line(screen, view, MST_TOP_HEADING);
            mst_top_add(line, "%4s%s", "", "MEAN");
            for (i = 0; i < sizeof phases / sizeof *phases; i++)
                mst_top_add(line, i == 0 ? "%6s" : " %8s", mst_phase_names[phases[i]]);
            mst_top_add(line, " %9s", "p99");
        }
        line = next_line(screen, view, look_of(s));
        mst_top_add_server(line, top, which);
        for (i = 0; i < sizeof phases / sizeof *phases; i++)
            mst_top_add(line, i == 0 ? "%10s" : " %8s",
                        mst_format_time(s->mean_ns[phases[i]]).text);
        mst_top_add(line, " %9s", mst_format_time(s->p99_ns).text);
    }
}

/* What a PHP's time went into, the most first; and what its workers wait for now. */
static void draw_waits(struct mst_top_screen *screen, const struct mst_top *top, size_t which,
                       const struct mst_top_view *view)
{
    const struct mst_top_server *s = &top->servers[which];
    struct mst_top_line *line = next_line(screen, view, look_of(s));
    uint64_t left_ns[MST_PART_COUNT], whole = 0, waiting = 0;
    enum mst_part part;
    size_t i;

    mst_top_add_server(line, top, which);
    mst_top_add(line, "waiting now:");
    for (i = 0; i < MST_WAIT_COUNT; i++) {
        if (s->waiting[i] > 0)
            mst_top_add(line, " %s %" PRIu64, mst_wait_names[i], s->waiting[i]);
        waiting += s->waiting[i];
    }
    mst_top_add(line, waiting > 0 ? "  time: " : " none  time: ");
    for (part = 0; part < MST_PART_COUNT; part++) {
        left_ns[part] = s->parts_ns[part];
        whole = mst_add_saturated(whole, left_ns[part]);
    }
    while (left_ns[part = mst_part_longest(left_ns)] > 0) {
        mst_top_add(line, " %s %s", mst_parts[part].name,
                    mst_format_percent(mst_milli(left_ns[part], whole)).text);
        left_ns[part] = 0;
    }
}

static void draw_times(struct mst_top_screen *screen, const struct mst_top *top,
                       const struct mst_top_view *view)
{
    size_t i, drawn = 0;

    draw_phases(screen, top, view);
    for (i = 0; i < top->server_count && drawn < view->height / 6; i++)
        if (top->servers[i].is_php && top->servers[i].is_known) {
            draw_waits(screen, top, i, view);
            drawn++;
        }
}

/* ---- queues and events ----------------------------------------------------------------------- */

/* Queues have lines of their own where a server has several. */
static size_t count_queues(const struct mst_top *top)
{
    size_t i, count = 0;

    for (i = 0; i < top->server_count; i++)
        if (top->servers[i].queue_count > 1)
            count += top->servers[i].queue_count;
    return count;
}

static void draw_queue(struct mst_top_screen *screen, const struct mst_top *top, size_t which,
                       const struct mst_top_queue *queue, const struct mst_top_view *view)
{
    struct mst_top_line *line = next_line(screen, view, look_of(&top->servers[which]));

    mst_top_add_server(line, top, which);
    mst_top_add_text(line, queue->address, 40, true);
    mst_top_add(line, " %8s %8s  ", mst_format_count(queue->queue).text,
                mst_format_count(queue->limit).text);
    mst_top_add_text(line, queue->pool, MANY, false);
}

/* Those in which connections wait come first. */
static void draw_queues(struct mst_top_screen *screen, const struct mst_top *top,
                        const struct mst_top_view *view, size_t lines)
{
    const struct mst_top_server *s;
    unsigned pass;
    size_t i, k, left = lines - 1;

    mst_top_add(next_line(screen, view, MST_TOP_HEADING), "    %-40s %8s %8s  %s", "ACCEPT QUEUE",
                "WAITING", "LIMIT", "POOL");
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < top->server_count; i++) {
            s = &top->servers[i];
            for (k = 0; s->queue_count > 1 && k < s->queue_count && left > 0; k++)
                if ((s->queues[k].queue > 0 && s->queues[k].queue != MST_UNKNOWN) == (pass == 0)) {
                    draw_queue(screen, top, i, &s->queues[k], view);
                    left--;
                }
        }
}

static void draw_events(struct mst_top_screen *screen, const struct mst_top *top,
                        const struct mst_top_view *view, size_t lines)
{
    struct mst_top_line *line = next_line(screen, view, MST_TOP_HEADING);
    size_t i;

    mst_top_add(line, "    EVENTS");
    for (i = 0; i < top->event_count && i + 1 < lines; i++) {
        line = next_line(screen, view, MST_TOP_PLAIN);
        mst_top_add(line, "%2zu  %s  ", top->events[i].server + 1,
                    clock_text(top->events[i].wall_ns, view->wall_ns).text);
        mst_top_add_text(line, top->events[i].text, MANY, false);
    }
}

/* ---- the room -------------------------------------------------------------------------------- */

/* In the order in which they are shown. The first three are the lists. */
enum section { LABELS, ENDS, IN_FLIGHT, QUEUES, EVENTS, SECTIONS };
static const enum mst_top_list list_of[] = { MST_TOP_LABELS, MST_TOP_ENDS, MST_TOP_IN_FLIGHT };

struct room {
    size_t want[SECTIONS];    /* lines, with the heading; 0: it has nothing to show */
    size_t given[SECTIONS];
    size_t left;
};

/* A heading alone is of no use. */
static void give(struct room *room, enum section section, size_t upto)
{
    size_t wanted = room->want[section] < upto ? room->want[section] : upto;
    size_t more = wanted > room->given[section] ? wanted - room->given[section] : 0;

    more = more < room->left ? more : room->left;
    if (room->given[section] + more < 2)
        return;
    room->given[section] += more;
    room->left -= more;
}

static void divide(struct room *room, enum section focus)
{
    static const enum section by_need[] = { IN_FLIGHT, LABELS, EVENTS, QUEUES, ENDS };
    size_t few = room->left < 24 ? 3 : room->left / 8, i;

    give(room, focus, room->left / 2);
    for (i = 0; i < SECTIONS; i++)
        give(room, by_need[i], few);
    give(room, focus, room->left + room->given[focus]);
    for (i = 0; i < SECTIONS; i++)
        give(room, by_need[i], room->left + room->given[by_need[i]]);
}

static void draw_list(struct mst_top_screen *screen, const struct mst_top *top,
                      struct mst_top_view *view, const struct mst_top_rows *rows, size_t lines)
{
    size_t first = 0, shown = lines - 1, i;

    if (rows->list == view->list) {
        if (view->scroll + shown > rows->count)
            view->scroll = rows->count > shown ? rows->count - shown : 0;
        first = view->scroll;
    }
    shown = shown < rows->count - first ? shown : rows->count - first;
    mst_top_rows_heading(next_line(screen, view, MST_TOP_HEADING), view, rows->list,
                         rows->count - shown);
    if (rows->count == 0)
        mst_top_add(next_line(screen, view, MST_TOP_FAINT), "    none");
    for (i = 0; i < shown; i++)
        mst_top_row_draw(next_line(screen, view, MST_TOP_PLAIN), top, rows->list,
                         &rows->items[first + i]);
}

static void draw_body(struct mst_top_screen *screen, const struct mst_top *top,
                      struct mst_top_view *view)
{
    struct mst_top_rows rows[IN_FLIGHT + 1];
    struct room room = { .left = view->height > screen->count + 1
                                     ? view->height - screen->count - 1 : 0 };
    enum section focus = IN_FLIGHT;
    unsigned i;

    for (i = 0; i <= IN_FLIGHT; i++) {
        rows[i] = mst_top_rows(top, view, list_of[i]);
        focus = list_of[i] == view->list ? (enum section)i : focus;
        room.want[i] = rows[i].count > 0 ? rows[i].count + 1 : 0;
    }
    room.want[focus] = rows[focus].count > 0 ? rows[focus].count + 1 : 2;   /* "none" */
    room.want[QUEUES] = count_queues(top) > 0 ? count_queues(top) + 1 : 0;
    room.want[EVENTS] = top->event_count > 0 ? top->event_count + 1 : 0;
    divide(&room, focus);
    for (i = 0; i <= IN_FLIGHT; i++) {
        if (room.given[i] > 0)
            draw_list(screen, top, view, &rows[i], room.given[i]);
        free(rows[i].items);
    }
    if (room.given[QUEUES] > 0)
        draw_queues(screen, top, view, room.given[QUEUES]);
    if (room.given[EVENTS] > 0)
        draw_events(screen, top, view, room.given[EVENTS]);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void draw_help(struct mst_top_screen *screen, const struct mst_top_view *view)
{
    static const char *const lines[] = {
        "", "  q            quit; a recording is ended properly",
        "  p, space     pause, go on", "  Tab          the next list gets the keys, and the room",
        "  s            sort it by something else",
        "  up, down, PgUp, PgDn, Home, End   scroll it",
        "  /            show only rows that have a text; Enter ends it, Esc takes it away",
        "  r            start a recording of these servers, end it",
        "  h, ?         this help, or back", "",
        "  Times, and numbers a second, are those of the time since the screen before.",
        "  ! marks what is of before: that server is gone, or cannot be read.",
        "  IN FLIGHT has workers that are busy; AT ONCE is how many calls were under",
        "  way on average. An other end is what requests were handed to, or waited for.",
        "  WANTED is how many workers would be in use if no connection waited for one.",
    };
    size_t i;

    for (i = 0; i < sizeof lines / sizeof *lines && screen->count + 1 < view->height; i++)
        mst_top_add(next_line(screen, view, MST_TOP_PLAIN), "%s", lines[i]);
}

/* At the bottom, whatever is above. */
static void draw_keys(struct mst_top_screen *screen, const struct mst_top_view *view)
{
    struct mst_top_line *line;

    while (screen->count + 1 < view->height && screen->count + 1 < MST_TOP_LINES_MAX)
        next_line(screen, view, MST_TOP_PLAIN);
    line = next_line(screen, view, MST_TOP_TITLE);
    if (view->is_typing) {
        mst_top_add(line, "only rows with: ");
        mst_top_add_text(line, view->filter, MANY, false);
        mst_top_add(line, "_");
    } else if (view->status[0] != '\0') {
        mst_top_add_text(line, view->status, MANY, false);
    } else {
        mst_top_add(line, "q quit  h help  p pause  Tab list  s sort  / filter  r record");
    }
    mst_top_add_right(line, "");
}

void mst_top_draw(struct mst_top_screen *screen, const struct mst_top *top,
                  struct mst_top_view *view)
{
    screen->count = 0;
    draw_title(screen, view);
    if (view->is_help) {
        draw_help(screen, view);
    } else {
        draw_sentence(screen, top, view);
        draw_servers(screen, top, view);
        draw_times(screen, top, view);
        draw_body(screen, top, view);
    }
    if (!view->is_batch)
        draw_keys(screen, view);
}

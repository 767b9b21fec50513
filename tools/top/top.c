/* top.c - mpmstat top from its start to its end: see top.h. */
#include "top/top.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "console/diag.h"
#include "console/format.h"
#include "console/output.h"
#include "console/stop.h"
#include "top/recorder.h"
#include "top/terminal.h"
#include "top/watch.h"

#define WAIT_MS         1000    /* for a key or a look, until the ends of others are looked at */
#define END_OF_RECORDING_MS 60000
#define BATCH_WIDTH     80u     /* where COLUMNS does not say */

struct session {
    const struct mst_top_options *options;
    struct mst_top_watch    watch;
    struct mst_top_view     view;
    struct mst_top_screen  *screen;
    struct mst_top_recorder recorder;
    uint64_t                looks;
    bool                    is_over;
};

/* ---- drawing --------------------------------------------------------------------------------- */

static void describe_recording(struct session *s)
{
    const struct mst_top_recorder *r = &s->recorder;

    if (r->pid <= 0)
        return;
    snprintf(s->view.status, sizeof s->view.status, r->is_ending ? "ending the recording into %s" :
             "recording into %s for %s; r ends it", r->file,
             mst_format_duration(mst_elapsed(r->started_ns, mst_now_ns())).text);
}

static void draw(struct session *s)
{
    describe_recording(s);
    pthread_mutex_lock(&s->watch.lock);
    s->view.wall_ns = s->watch.looked_ns;
    mst_top_draw(s->screen, &s->watch.top, &s->view);
    pthread_mutex_unlock(&s->watch.lock);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void say(struct session *s, const char *sentence)
{
    snprintf(s->view.status, sizeof s->view.status, "%.*s", (int)sizeof s->view.status - 1,
             sentence);
}

static void start_or_stop_recording(struct session *s)
{
    char error[MST_ERROR_MAX];

    if (s->recorder.pid > 0)
        mst_top_recorder_stop(&s->recorder);
    else if (mst_top_recorder_start(&s->recorder, &s->options->targets, error) != 0)
        say(s, error);
}

/* Takes a character away, with the bytes that go on a UTF-8 character. */
static void shorten(char *text)
{
    size_t length = strlen(text);

    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
        length--;
    text[length > 0 ? length - 1 : 0] = '\0';
}

static void type_filter(struct session *s, int key)
{
    char *filter = s->view.filter;
    size_t length = strlen(filter);

    if (key == MST_TOP_KEY_ENTER || key == MST_TOP_KEY_ESCAPE) {
        s->view.is_typing = false;
        if (key == MST_TOP_KEY_ESCAPE)
            filter[0] = '\0';
    } else if (key == MST_TOP_KEY_BACKSPACE) {
        shorten(filter);
    } else if (key >= ' ' && key < 256 && length + 1 < sizeof s->view.filter) {
        filter[length] = (char)key;
        filter[length + 1] = '\0';
    }
    s->view.scroll = 0;
}

/* The view takes back what is beyond the end. */
static void scroll(struct mst_top_view *view, int key)
{
    size_t page = view->height / 2;

    switch (key) {
    case MST_TOP_KEY_UP:        view->scroll -= view->scroll > 0; break;
    case MST_TOP_KEY_DOWN:      view->scroll++; break;
    case MST_TOP_KEY_PAGE_UP:   view->scroll -= view->scroll < page ? view->scroll : page; break;
    case MST_TOP_KEY_PAGE_DOWN: view->scroll += page; break;
    case MST_TOP_KEY_HOME:      view->scroll = 0; break;
    case MST_TOP_KEY_END:       view->scroll = SIZE_MAX / 2; break;
    default:                    break;
    }
}

static void choose(struct session *s, int key)
{
    struct mst_top_view *view = &s->view;

    view->status[0] = '\0';
    switch (key) {
    case 'q': s->is_over = true; break;
    case 'h':
    case '?': view->is_help = !view->is_help; break;
    case 'p':
    case ' ':
        view->is_paused = !view->is_paused;
        mst_top_watch_pause(&s->watch, view->is_paused);
        break;
    case 's': view->order[view->list] = (view->order[view->list] + 1) % MST_TOP_ORDERS; break;
    case MST_TOP_KEY_TAB:
        view->list = (view->list + 1) % MST_TOP_LISTS;
        view->scroll = 0;
        break;
    case '/': view->is_typing = true; break;
    case MST_TOP_KEY_ESCAPE: view->filter[0] = '\0'; break;
    case 'r': start_or_stop_recording(s); break;
    default:  scroll(view, key); break;
    }
}

static void take_keys(struct session *s)
{
    int key;

    while ((key = mst_top_terminal_key()) != MST_TOP_KEY_NONE)
        if (s->view.is_typing)
            type_filter(s, key);
        else
            choose(s, key);
}

/* ---- in a terminal --------------------------------------------------------------------------- */

/* Until a key, a look, or a while later: whether there is a terminal still. */
static bool wait_for_news(struct session *s)
{
    struct pollfd fds[] = {
        { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = s->watch.news, .events = POLLIN },
    };
    eventfd_t looks;

    if (poll(fds, 2, WAIT_MS) < 0)
        return errno == EINTR;
    if ((fds[1].revents & POLLIN) && eventfd_read(s->watch.news, &looks) == 0)
        s->looks += looks;
    return !(fds[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void show(struct session *s)
{
    uint64_t frames = s->options->frames;
    char sentence[MST_ERROR_MAX];

    while (!s->is_over && !mst_stop_asked()) {
        if (mst_top_recorder_ended(&s->recorder, sentence))
            say(s, sentence);
        mst_top_terminal_size(&s->view.width, &s->view.height);
        draw(s);
        mst_top_terminal_draw(s->screen);
        if ((frames > 0 && s->looks >= frames) || !wait_for_news(s))
            break;
        take_keys(s);
    }
}

/* After the terminal is as it was before: the recording's end can take a while. */
static void end_recording(struct session *s)
{
    char sentence[MST_ERROR_MAX];

    if (s->recorder.pid <= 0)
        return;
    mst_progress("ending the recording into %s", s->recorder.file);
    if (mst_top_recorder_wait(&s->recorder, END_OF_RECORDING_MS, sentence))
        mst_tell(s->recorder.has_failed, sentence);
    else
        mst_warn("the recording into %s has been asked to end, and still writes",
                 s->recorder.file);
}

static int run_in_terminal(struct session *s)
{
    char error[MST_ERROR_MAX];
    struct mst_stop stop;
    int status = MST_EXIT_OK;

    mst_stop_begin(&stop);
    if (mst_top_terminal_begin(error) != 0) {
        status = mst_failed(MST_EXIT_USAGE, "%s", error);
    } else if (!mst_top_watch_start(&s->watch)) {
        mst_top_terminal_end();
        status = mst_failed(MST_EXIT_TARGET, "there is no thread to look at the servers");
    } else {
        show(s);
        mst_top_terminal_end();
        end_recording(s);
        if (stop.count > 0)
            status = MST_EXIT_INTERRUPTED;
    }
    mst_stop_end(&stop);
    return status;
}

/* ---- as plain text --------------------------------------------------------------------------- */

static unsigned batch_width(void)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns != NULL ? strtoul(columns, NULL, 10) : 0;

    return width > 0 && width <= MST_TOP_COLUMNS_MAX ? (unsigned)width : BATCH_WIDTH;
}

static void print(struct mst_top_screen *screen)
{
    unsigned i;

    for (i = 0; i < screen->count; i++) {
        struct mst_top_line *line = &screen->lines[i];

        while (line->bytes > 0 && line->text[line->bytes - 1] == ' ')
            line->text[--line->bytes] = '\0';
        line->text[line->bytes++] = '\n';
        mst_write_file(stdout, line->text, line->bytes);
    }
    mst_write_file(stdout, "\n", 1);
}

/* Each frame comes after a delay, so that the first one has rates, too. A signal ends the
 * process. */
static int run_in_batch(struct session *s)
{
    uint64_t frames = s->options->frames;

    s->view.is_batch = true;
    s->view.width = batch_width();
    s->view.height = MST_TOP_LINES_MAX;
    do {
        poll(NULL, 0, (int)(s->options->delay_ns / MST_NS_PER_MS));
        mst_top_watch_look(&s->watch);
        draw(s);
        print(s->screen);
    } while (mst_flush_output() && (frames == 0 || --frames > 0));
    return MST_EXIT_OK;
}

int mst_top_run(const struct mst_top_options *options)
{
    struct session s = { .options = options, .view = { .delay_ns = options->delay_ns } };
    int status;

    s.screen = malloc(sizeof *s.screen);
    if (s.screen == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "out of memory");
    status = mst_top_watch_open(&s.watch, &options->targets, options->delay_ns);
    if (status == MST_EXIT_OK)
        status = options->is_batch ? run_in_batch(&s) : run_in_terminal(&s);
    mst_top_watch_close(&s.watch);
    free(s.screen);
    return status;
}

/* http_source.c - a source over a status URL: see source.h.
 *
 * The journal is read page by page, each from the cursor that the page before
 * named. A page is taken whole or not at all, so that after a broken answer the
 * next poll asks for the same records again and none is given twice.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "render/negotiate.h"
#include "segment/liveness.h"
#include "source/http.h"
#include "source/ndjson.h"
#include "source/remote_clock.h"
#include "source/source_kind.h"
#include "source/status_json.h"

/* Records of a kind in one answer: few enough that a page is soon there. */
#define PAGE_RECORDS 10000u

/* Polls in a row that the server may put off (503: it gives others as many answers of its
 * journal as it gives at once). */
#define POLLS_PUT_OFF 30u

/* A poll ends even where records come faster than they are read: after so many pages, or
 * where they took so long. */
#define POLL_PAGES 32u
#define POLL_NS    ((uint64_t)MST_SOURCE_TIMEOUT_MS * MST_NS_PER_MS)

struct url_source {
    struct mst_source base;
    const char       *board;    /* its base name, where it is not the Apache's own; else NULL */
    struct mst_http  *http;
    struct mst_ndjson page;
    char              cursor[MST_CURSOR_MAX];
    bool              marked;
    unsigned          put_off;  /* polls in a row */

    struct mst_http_times times;   /* of the latest status */
    struct mst_remote_clock clock;

    uint64_t          sampled_ns, no_idle_ns;   /* the sample before: its time and value */
};

/* ---- the status -------------------------------------------------------------- */

static bool is_producer(const struct mst_snapshot *board, const char *producer)
{
    return board->producer != NULL && strcmp(board->producer, producer) == 0;
}

static const char *base_name(const struct mst_snapshot *board)
{
    const char *slash = board->path != NULL ? strrchr(board->path, '/') : NULL;

    return slash != NULL ? slash + 1 : board->path != NULL ? board->path : "";
}

static const struct mst_snapshot *own_board(const struct url_source *u,
                                            const struct mst_status *status)
{
    size_t i;

    for (i = 0; i < status->count; i++)
        if (u->board == NULL ? is_producer(&status->boards[i], "apache")
                             : is_producer(&status->boards[i], "php") &&
                               strcmp(base_name(&status->boards[i]), u->board) == 0)
            return &status->boards[i];
    return NULL;
}

/* Asks the URL with the query, and says when to give up on the answer. */
static int ask(struct url_source *u, const char *query, struct mst_http_answer *answer,
               char error[MST_ERROR_MAX])
{
    const struct mst_source_wait *wait = u->base.wait;
    int result;

    mst_http_set_stop(u->http, u->base.stop);
    mst_http_set_deadline(u->http, u->base.deadline_ns);
    if (wait != NULL)
        wait->begin(wait->context);
    result = mst_http_get(u->http, u->base.target->name, query, answer, error);
    if (wait != NULL)
        wait->end(wait->context);
    return result;
}

/* Asks for the JSON. Returns the source's board in *status, or NULL with a sentence. */
static const struct mst_snapshot *get_status(struct url_source *u, struct mst_status *status,
                                             char error[MST_ERROR_MAX])
{
    const char *url = u->base.target->name;
    const struct mst_snapshot *board = NULL;
    struct mst_http_answer answer;
    char problem[MST_ERROR_MAX];

    if (ask(u, "format=json", &answer, error) != 0)
        return NULL;
    u->times = mst_http_times(u->http);
    if (mst_http_expect_type(&answer, url, "application/json", error) != 0)
        goto done;
    if (mst_status_parse(status, answer.body, answer.length, problem) != 0) {
        mst_fail(error, "%.160s: the status is wrong: %.300s", url, problem);
        goto done;
    }
    board = own_board(u, status);
    if (board == NULL) {
        if (u->board != NULL)
            mst_fail(error, "%.160s: expected the PHP's board %.128s in the status, "
                     "found %zu boards without it", url, u->board, status->count);
        else
            mst_fail(error, "%.160s: expected an Apache's board in the status, "
                     "found %zu boards and none of them Apache's", url, status->count);
        mst_status_free(status);
    }
done:
    mst_http_answer_free(&answer);
    return board;
}

/* ---- its clock ----------------------------------------------------------------- */

/* A run is timed by one clock: what is found out later is of no use to it, but for a doubt. */
static void learn_clock(struct url_source *u, const struct mst_snapshot *board)
{
    struct mst_source *s = &u->base;
    uint64_t by_ns;

    if (s->local)
        return;
    if (mst_remote_clock_contradicts(&u->clock, board, u->times.sent_ns, u->times.first_ns, &by_ns))
        s->clock_jump_ns = by_ns;
    if (!(u->marked && mst_remote_clock_is_known(&u->clock)))
        mst_remote_clock_learn(&u->clock, board, u->times.sent_ns, u->times.first_ns);
    if (mst_remote_clock_is_known(&u->clock)) {
        s->knows_clock = true;
        s->clock = mst_remote_clock_offset(&u->clock, s->clock_offset_ns);
    }
}

/* An instant of its own by our clock. */
static uint64_t our_wall_ns(const struct url_source *u, uint64_t its_ns)
{
    return mst_remote_clock_ours(&u->clock, u->base.clock_offset_ns, its_ns);
}

/* ---- identity ------------------------------------------------------------------ */

static void copy_string(char *out, size_t room, const char *string)
{
    snprintf(out, room, "%s", string != NULL ? string : "");
}

/* Loopback alone proves little: a port can be forwarded, the server may run in a
 * container. The board it names, read here, tells whose pids these are, and what its
 * instants are made of. */
static void find_local(struct url_source *u)
{
    struct mst_source *s = &u->base;
    struct mst_reader reader;
    char error[MST_ERROR_MAX];

    s->local = s->has_board = false;
    s->doubt[0] = '\0';
    if (!mst_http_is_loopback(s->target->name) ||
        mst_reader_open(&reader, s->identity.board, error) != 0)
        return;
    if (reader.header.pid == s->identity.pid && mst_header_running(&reader.header) == 1)
        mst_source_take_board(s, &reader);
    if (s->local)
        u->clock.ahead_min_ns = u->clock.ahead_max_ns = reader.header.realtime_offset_ns;
    mst_reader_close(&reader);
}

static void identify(struct mst_source *s, const struct mst_snapshot *board)
{
    struct url_source *u = (struct url_source *)s;
    struct mst_source_identity *id = &s->identity;

    if (id->pid == board->pid && id->started_wall_ns == board->started_ns)
        return;
    memset(id, 0, sizeof *id);
    id->producer = is_producer(board, "php") ? MST_PRODUCER_PHP : MST_PRODUCER_APACHE;
    id->clock_offset_ns = MST_UNKNOWN;
    copy_string(id->server, sizeof id->server, board->server);
    copy_string(id->version, sizeof id->version, board->version);
    copy_string(id->mpm, sizeof id->mpm, board->mpm);
    copy_string(id->sapi, sizeof id->sapi, board->sapi);
    copy_string(id->settings, sizeof id->settings, board->settings);
    copy_string(id->board, sizeof id->board, board->path);
    id->pid = board->pid;
    id->started_wall_ns = board->started_ns;
    mst_remote_clock_forget(&u->clock);
    s->knows_clock = false;
    find_local(u);
}

/* After a restart: the records come before the next sample does, and can be by another clock.
 * Where the server does not answer, the next sample reports it. */
static void refresh_identity(struct url_source *u)
{
    const struct mst_snapshot *board;
    struct mst_status status;
    char ignored[MST_ERROR_MAX];

    board = get_status(u, &status, ignored);
    if (board == NULL)
        return;
    identify(&u->base, board);
    learn_clock(u, board);
    mst_status_free(&status);
}

/* ---- the journal ------------------------------------------------------------------ */

/* Gets the page from `since` on into u->page. */
static int get_page(struct url_source *u, const char *since, char error[MST_ERROR_MAX])
{
    const char *url = u->base.target->name;
    struct mst_http_answer answer;
    char query[256 + MST_QUERY_BOARD_MAX], problem[MST_ERROR_MAX];
    int result = -1;

    snprintf(query, sizeof query, "format=journal&since=%s&limit=%u%s%s", since, PAGE_RECORDS,
             u->board != NULL ? "&board=" : "", u->board != NULL ? u->board : "");
    if (ask(u, query, &answer, error) != 0)
        return -1;
    if (mst_http_expect_type(&answer, url, "application/x-ndjson", error) != 0)
        goto done;
    if (mst_ndjson_read(answer.body, answer.length, PAGE_RECORDS, &u->page, problem) != 0) {
        mst_fail(error, "%.160s: %.300s", url, problem);
        goto done;
    }
    result = 0;
done:
    mst_http_answer_free(&answer);
    return result;
}

#define FROM_START "start"   /* the cursor of the oldest record */

static int mark_journal(struct mst_source *s, bool from_head, char error[MST_ERROR_MAX])
{
    struct url_source *u = (struct url_source *)s;

    if (!from_head) {
        memcpy(u->cursor, FROM_START, sizeof FROM_START);
        return 0;
    }
    if (get_page(u, "now", error) != 0)
        return -1;
    memcpy(u->cursor, u->page.next, sizeof u->cursor);
    u->marked = true;
    return 0;
}

/* A cursor begins with when its server started. */
static bool same_start(const char *a, const char *b)
{
    size_t n = strcspn(a, "-");

    return n == strcspn(b, "-") && memcmp(a, b, n) == 0;
}

/* Makes the page's end the place to go on from. */
static void advance(struct url_source *u)
{
    struct mst_source *s = &u->base;

    if (strcmp(u->cursor, FROM_START) != 0 && !same_start(u->cursor, u->page.next)) {
        s->restarts++;
        refresh_identity(u);
    }
    if (u->page.lost == MST_UNKNOWN || s->lost == MST_UNKNOWN)
        s->lost = MST_UNKNOWN;
    else
        s->lost += u->page.lost;
    s->pending = u->page.more;
    memcpy(u->cursor, u->page.next, sizeof u->cursor);
}

static struct mst_record_names names_of(const struct mst_ndjson_line *line)
{
    struct mst_record_names names = { .label = line->label };
    size_t i;

    for (i = 0; i < MST_RECORD_ENDS; i++)
        names.ends[i] = line->ends[i][0] != '\0' ? line->ends[i] : NULL;
    names.path = line->path[0] != '\0' ? line->path : NULL;
    return names;
}

/* 0; not 0: the taker has had enough. */
static int give_line(const struct url_source *u, const struct mst_ndjson_line *line,
                     const struct mst_source_events *events)
{
    uint64_t key = mst_source_key(u->base.restarts, line->ticket);
    uint64_t wall_ns = our_wall_ns(u, line->wall_ns);
    struct mst_record_names names = names_of(line);

    if (line->kind == MST_NDJSON_REQUEST && events->on_request != NULL)
        return events->on_request(events->context, &line->record.request, &names, wall_ns, key);
    if (line->kind == MST_NDJSON_LIFECYCLE && events->on_lifecycle != NULL)
        return events->on_lifecycle(events->context, &line->record.lifecycle, wall_ns, key);
    if (line->kind == MST_NDJSON_PHP_REQUEST && events->on_php_request != NULL)
        return events->on_php_request(events->context, &line->record.php_request, &names,
                                      wall_ns, key);
    if (line->kind == MST_NDJSON_MARK && events->on_mark != NULL)
        return events->on_mark(events->context, &line->record.mark, wall_ns,
                               our_wall_ns(u, line->request_wall_ns), key);
    if (line->kind == MST_NDJSON_DELIVERY && events->on_delivery != NULL)
        return events->on_delivery(events->context, &line->record.delivery, key);
    return 0;
}

/* Page after page, while there is time for another. */
static long poll_journal(struct mst_source *s, const struct mst_source_events *events,
                         char error[MST_ERROR_MAX])
{
    struct url_source *u = (struct url_source *)s;
    uint64_t begun = mst_now_ns();
    unsigned pages = 0;
    long given = 0;
    size_t i;

    do {
        s->cut = s->pending = true;
        if (mst_source_is_over(s))
            return given;
        if (get_page(u, u->cursor, error) != 0) {
            s->cut = false;
            if (mst_http_status(u->http) == 503 && ++u->put_off < POLLS_PUT_OFF)
                return given;   /* the next poll asks again */
            return -1;
        }
        u->put_off = 0;
        advance(u);
        for (i = 0; i < u->page.count; i++)
            if (give_line(u, &u->page.lines[i], events) != 0) {
                error[0] = '\0';
                return -1;
            }
        given += (long)u->page.count;
        /* "more" without a record: one is still being written, ask again later. */
    } while (u->page.more && u->page.count > 0 && ++pages < POLL_PAGES &&
             mst_elapsed(begun, mst_now_ns()) < POLL_NS);
    s->cut = u->page.more && u->page.count > 0;
    return given;
}

/* The server itself gives up on records that never become complete. */
static void finish_journal(struct mst_source *s)
{
    struct url_source *u = (struct url_source *)s;

    if (u->put_off > 0)
        s->lost = MST_UNKNOWN;   /* there can be more */
}

/* ---- samples ------------------------------------------------------------------------ */

/* When what a status shows was so: an answer may have waited long for its worker. */
static uint64_t shown_wall_ns(const struct url_source *u, const struct mst_snapshot *board)
{
    uint64_t first = mst_source_wall_ns(&u->base, u->times.sent_ns);
    uint64_t last = mst_source_wall_ns(&u->base, u->times.first_ns);
    uint64_t ns = our_wall_ns(u, mst_remote_clock_made(board));

    return ns > last ? last : ns < first ? first : ns;
}

/* Whether workers ran out: some wait to be accepted, or most of the time since
 * the sample before none was idle. Our own requests take too little of it for that. */
static bool workers_ran_out(struct url_source *u, const struct mst_sample *now)
{
    uint64_t passed = mst_elapsed(u->sampled_ns, now->wall_ns);
    bool no_idle = u->sampled_ns != 0 && passed > 0 && now->no_idle_ns != MST_UNKNOWN &&
                   u->no_idle_ns != MST_UNKNOWN &&
                   mst_elapsed(u->no_idle_ns, now->no_idle_ns) > passed / 2;

    u->sampled_ns = now->wall_ns;
    u->no_idle_ns = now->no_idle_ns;
    return no_idle || (now->listen_queue > 0 && now->listen_queue != MST_UNKNOWN);
}

static int take_sample(struct mst_source *s, struct mst_sample *sample, char error[MST_ERROR_MAX])
{
    struct url_source *u = (struct url_source *)s;
    const struct mst_snapshot *board;
    struct mst_status status;
    int result = 0;
    size_t i;

    board = get_status(u, &status, error);
    if (board == NULL)
        return -1;
    identify(s, board);
    learn_clock(u, board);
    mst_source_show(s, board);
    mst_sample_from_snapshot(sample, board);
    sample->wall_ns = shown_wall_ns(u, board);
    /* Where workers ran out, the one that answers us is one that the load would have. */
    if (!workers_ran_out(u, sample))
        mst_sample_leave_out_asker(sample, board);
    for (i = 0; i < board->slot_count && result == 0; i++)
        if (board->slots[i].pid != MST_UNKNOWN)
            result = mst_sample_add_process(sample, board->slots[i].pid, 0);
    mst_sample_unite_processes(sample);
    if (result != 0)
        mst_fail(error, "out of memory");
    mst_status_free(&status);
    return result;
}

/* ---- open and close ------------------------------------------------------------------- */

static void close_url(struct mst_source *s)
{
    struct url_source *u = (struct url_source *)s;

    mst_strings_free(&s->others);
    mst_http_close(u->http);
    mst_ndjson_free(&u->page);
    free(u);
}

static const struct mst_source_kind url_kind = {
    .close = close_url, .mark = mark_journal, .poll = poll_journal, .finish = finish_journal,
    .sample = take_sample,
};

/* URL#NAME: which board. 0, or -1 with a sentence. */
static int choose_board(struct url_source *u, char error[MST_ERROR_MAX])
{
    const char *url = u->base.target->name, *hash = strchr(url, '#');
    struct mst_status_query query;
    char text[256];

    if (hash == NULL)
        return 0;
    u->board = hash + 1;
    if ((size_t)snprintf(text, sizeof text, "format=journal&board=%s", u->board) < sizeof text &&
        strchr(u->board, '&') == NULL && mst_status_query_parse(&query, text, NULL, error) == 0)
        return 0;
    mst_fail(error, "%.160s: expected the base name of a PHP's board after the #, "
             "as the status shows it", url);
    return -1;
}

struct mst_source *mst_source_open_url(struct mst_target *target, char error[MST_ERROR_MAX])
{
    struct url_source *u = calloc(1, sizeof *u);
    const struct mst_snapshot *board = NULL;
    struct mst_status status;
    size_t i;

    if (u != NULL)
        u->http = mst_http_open(MST_SOURCE_TIMEOUT_MS);
    if (u == NULL || u->http == NULL || mst_http_set_access(u->http, &target->access) != 0) {
        if (u != NULL)
            mst_http_close(u->http);
        free(u);
        mst_fail(error, "out of memory");
        return NULL;
    }
    u->base.kind = &url_kind;
    u->base.deadline_ns = UINT64_MAX;
    mst_remote_clock_forget(&u->clock);
    u->base.target = target;
    if (choose_board(u, error) == 0)
        board = get_status(u, &status, error);
    if (board == NULL) {
        close_url(&u->base);
        return NULL;
    }
    identify(&u->base, board);
    learn_clock(u, board);
    for (i = 0; i < status.count && u->board == NULL; i++)
        if (is_producer(&status.boards[i], "php"))
            mst_strings_addf(&u->base.others, "%s#%s", target->name,
                             base_name(&status.boards[i]));
    if (u->base.others.failed) {
        mst_fail(error, "out of memory");
        close_url(&u->base);
        u = NULL;
    }
    mst_status_free(&status);
    return u != NULL ? &u->base : NULL;
}

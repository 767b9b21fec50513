/* follow.c - the requests of running servers to export: see follow.h. */
#include "export/follow.h"

#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "archive/writer.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"
#include "export/request.h"
#include "source/source.h"

#define LOOK_NS  MST_NS_PER_S          /* between two looks which boards there are */
#define GONE_NS  (60 * MST_NS_PER_S)   /* a board that is not there for so long is left */
#define CLOCK_NS (60 * MST_NS_PER_S)   /* between two looks by how much the clocks differ */
#define TURN_NS  (60 * MST_NS_PER_S)   /* PHP's requests are kept for one to two of these */

/* A board can say anything: longer times no server has, and an archive has none whose sum is above
 * INT64_MAX. */
#define SOUND_NS (UINT64_C(1) << 58)

/* What the targets were at one time. Boards of it that are followed borrow their targets. */
struct found {
    struct mst_targets targets;
    size_t             users;
};

struct board {
    struct mst_follow *follow;
    struct found      *found;
    struct mst_source *source;
    uint64_t           seen_ns;      /* when it was there for the last time */
    uint64_t           lost;         /* as the source said the last time */
    int64_t            server;       /* its row in the archive; 0: none yet */
    uint64_t           start;        /* of the server, that the row is of: the part of a record's
                                      * key that counts them */
    struct board      *next;
};

/* The last rows at one time: of Apache's requests, of PHP's, and of what these waited for. */
struct rows { uint64_t chosen, requests, waits; };

struct mst_follow {
    char *const             *targets;
    size_t                   target_count;
    struct mst_export_choice choice;
    struct board            *boards;
    struct mst_archive      *archive;      /* NULL: it could not be made */
    int64_t                  run;
    uint64_t                 began_ns;     /* since 1970 */
    uint64_t                 looked_ns, clock_ns, turned_ns;
    bool                     has_looked;
    struct rows              turn;         /* when PHP's requests were last made fewer */
    uint64_t                 php_requests; /* that were added since then */
    uint64_t                 waiting;      /* Apache's requests in the archive */
    uint64_t                 settled;      /* the last row of those that have waited long enough */
    uint64_t                 settling;     /* of those that do so since settling_ns */
    uint64_t                 settling_ns;
    struct mst_follow_counts counts;
};

/* ---- records ------------------------------------------------------------------------------- */

/* The server that the record is of: a new start of it is a server of its own, whose spans have
 * other ids. -1: the archive failed. */
static int find_server(struct board *b, uint64_t start)
{
    struct mst_follow *f = b->follow;

    if (b->server != 0 && b->start == start)
        return 0;
    b->start = start;
    return mst_archive_add_server(f->archive, f->run, mst_source_name(b->source),
                                  mst_source_local(b->source), mst_source_identity(b->source),
                                  &b->server);
}

/* PHP's code, for the places that requests waited in. */
static int on_frame(void *context, uint64_t id, const struct mst_frame *frame)
{
    struct board *b = context;

    return find_server(b, id >> MST_SOURCE_CODE_BITS) != 0
           ? -1 : mst_archive_add_frame(b->follow->archive, b->server, id, frame);
}

static bool are_sound(const uint64_t *ns, size_t count)
{
    size_t i = 0;

    while (i < count && ns[i] <= SOUND_NS)
        i++;
    return i == count;
}

static int on_request(void *context, const struct mst_request *r,
                      const struct mst_record_names *names, uint64_t wall_start_ns, uint64_t key)
{
    const uint64_t times[] = { r->queue_ns, r->read_ns, r->handle_ns, r->send_ns, r->held_ns };
    struct board *b = context;
    struct mst_follow *f = b->follow;

    if (!mst_export_is_chosen(&f->choice, r, names->label))
        return 0;
    if (f->waiting == MST_FOLLOW_REQUESTS || wall_start_ns > INT64_MAX - 8 * SOUND_NS ||
        !are_sound(times, sizeof times / sizeof *times)) {
        f->counts.dropped++;
        return 0;
    }
    f->waiting++;
    return find_server(b, key >> MST_SOURCE_TICKET_BITS) != 0
           ? -1 : mst_archive_add_request(f->archive, b->server, r, names, wall_start_ns, key,
                                          false);
}

static int on_php_request(void *context, const struct mst_php_request *r,
                          const struct mst_record_names *names, uint64_t wall_start_ns,
                          uint64_t key)
{
    struct board *b = context;
    struct mst_follow *f = b->follow;

    if (wall_start_ns > INT64_MAX - 8 * SOUND_NS || !are_sound(&r->run_ns, 1) ||
        (mst_php_waits_known(r) && !are_sound(r->waits_ns, MST_WAIT_COUNT)))
        return 0;
    f->php_requests++;
    return find_server(b, key >> MST_SOURCE_TICKET_BITS) != 0
           ? -1 : mst_archive_add_php_request(f->archive, b->server, r, names, wall_start_ns, key,
                                              false);
}

/* ---- the archive --------------------------------------------------------------------------- */

/* The servers and their code are added again with the next records. */
static void forget_servers(struct mst_follow *f)
{
    struct board *b;

    for (b = f->boards; b != NULL; b = b->next) {
        b->server = 0;
        mst_source_forget_code(b->source);
    }
}

static bool open_archive(struct mst_follow *f)
{
    const struct mst_archive_run run = { .started_ns = mst_realtime_ns(),
                                         .tool_threads = MST_UNKNOWN };
    char error[MST_ERROR_MAX];

    forget_servers(f);
    f->turn = (struct rows){ 0 };
    f->turned_ns = mst_now_ns();
    f->php_requests = f->waiting = f->settled = f->settling = 0;
    f->archive = mst_archive_in_memory(error);
    if (f->archive == NULL)
        return false;
    if (mst_archive_begin_run(f->archive, &run, &f->run) == 0)
        return true;
    mst_archive_close(f->archive, error);
    f->archive = NULL;
    return false;
}

/* Where memory ran out: what waits is dropped, and the next poll begins with an empty one. */
static void close_archive(struct mst_follow *f)
{
    char error[MST_ERROR_MAX];

    mst_archive_close(f->archive, error);
    f->archive = NULL;
    f->counts.dropped += f->waiting;
    f->waiting = 0;
}

/* Executes a statement with one number in it. */
static bool execute(struct mst_follow *f, const char *sql, uint64_t number)
{
    struct mst_query q = mst_query_ask(mst_archive_db(f->archive), sql, (int64_t)number);

    mst_query_next(&q);
    return mst_query_done(&q);
}

static bool find_last_rows(struct mst_follow *f, struct rows *last)
{
    struct mst_query q = mst_query_ask(mst_archive_db(f->archive),
        "SELECT (SELECT coalesce(max(rowid), 0) FROM server_requests) AS chosen, "
        "(SELECT coalesce(max(rowid), 0) FROM php_requests) AS requests, "
        "(SELECT coalesce(max(rowid), 0) FROM php_waits) AS waits WHERE :id = 0", 0);

    if (mst_query_next(&q)) {
        last->chosen = mst_row_number(&q, "chosen");
        last->requests = mst_row_number(&q, "requests");
        last->waits = mst_row_number(&q, "waits");
    }
    return mst_query_done(&q);
}

/* Rows are numbered from 1 again where none is left. */
static uint64_t number_after(uint64_t last, uint64_t deleted)
{
    return last > deleted ? last : 0;
}

/* Forgets PHP's requests that were there at the last turn, and servers that have no request here;
 * one that has another is added again. */
static bool forget_earlier(struct mst_follow *f)
{
    struct rows last = { 0 };
    bool fine;

    if (mst_elapsed(f->turned_ns, mst_now_ns()) < TURN_NS &&
        f->php_requests < MST_FOLLOW_PHP_REQUESTS / 2)
        return true;
    fine = find_last_rows(f, &last) &&
           execute(f, "DELETE FROM php_requests WHERE rowid <= :id", f->turn.requests) &&
           execute(f, "DELETE FROM php_waits WHERE rowid <= :id", f->turn.waits) &&
           execute(f, "DELETE FROM servers WHERE run_id = :id AND id NOT IN (SELECT server_id "
                      "FROM server_requests UNION SELECT server_id FROM php_requests)",
                   (uint64_t)f->run) &&
           execute(f, "DELETE FROM frames WHERE server_id NOT IN (SELECT id FROM servers WHERE "
                      "run_id = :id)", (uint64_t)f->run);
    forget_servers(f);
    f->turn.requests = number_after(last.requests, f->turn.requests);
    f->turn.waits = number_after(last.waits, f->turn.waits);
    f->turned_ns = mst_now_ns();
    f->php_requests = 0;
    return fine;
}

/* ---- boards -------------------------------------------------------------------------------- */

static void leave_found(struct found *found)
{
    if (--found->users > 0)
        return;
    mst_targets_free(&found->targets);
    free(found);
}

static struct board *find_board(const struct mst_follow *f, const char *name)
{
    struct board *b = f->boards;

    while (b != NULL && strcmp(mst_source_name(b->source), name) != 0)
        b = b->next;
    return b;
}

/* From its beginning where it began after we did: what it had before then may have been exported
 * by the one that was here before. */
static void follow_board(struct mst_follow *f, struct found *found, struct mst_target *target)
{
    char error[MST_ERROR_MAX];
    struct board *b = calloc(1, sizeof *b);
    bool is_new;

    if (b == NULL)
        return;
    b->source = mst_source_open(target, error);
    is_new = b->source != NULL &&
             mst_source_identity(b->source)->started_wall_ns > f->began_ns;
    if (b->source == NULL || (is_new ? mst_source_rewind(b->source, error)
                                     : mst_source_mark(b->source, error)) != 0) {
        if (b->source != NULL)
            mst_source_close(b->source);
        free(b);
        return;
    }
    b->follow = f;
    b->found = found;
    b->seen_ns = mst_now_ns();
    b->next = f->boards;
    f->boards = b;
    f->counts.boards++;
    found->users++;
}

static void leave_board(struct mst_follow *f, struct board **place)
{
    struct board *b = *place;

    *place = b->next;
    mst_source_close(b->source);
    leave_found(b->found);
    free(b);
    f->counts.boards--;
}

/* Looks which boards there are. One that is replaced where it is goes on, one that is gone for long
 * is left. */
static void look(struct mst_follow *f)
{
    struct found *found = calloc(1, sizeof *found);
    char error[MST_ERROR_MAX];
    struct board *b, **place;
    size_t i;

    if (found == NULL)
        return;
    found->users = 1;
    mst_targets_resolve(&found->targets, f->targets, f->target_count, error);
    for (i = 0; i < found->targets.count; i++) {
        struct mst_target *target = &found->targets.items[i];

        if (target->problem != NULL)
            continue;
        b = find_board(f, target->name);
        if (b != NULL)
            b->seen_ns = mst_now_ns();
        else
            follow_board(f, found, target);
    }
    leave_found(found);
    for (place = &f->boards; *place != NULL;)
        if (mst_elapsed((*place)->seen_ns, mst_now_ns()) > GONE_NS)
            leave_board(f, place);
        else
            place = &(*place)->next;
}

/* ---- polls --------------------------------------------------------------------------------- */

/* False: the archive failed. A board that cannot be read now is read later. */
static bool poll_board(struct mst_follow *f, struct board *b)
{
    const struct mst_source_events events = {
        .context = b, .on_request = on_request, .on_php_request = on_php_request,
        .on_frame = on_frame,
    };
    char error[MST_ERROR_MAX];
    uint64_t lost;
    long given = mst_source_poll(b->source, &events, error);

    lost = mst_source_lost(b->source);
    if (lost != MST_UNKNOWN && lost > b->lost) {
        f->counts.lost += lost - b->lost;
        b->lost = lost;
    }
    return given >= 0 || error[0] != '\0';
}

void mst_follow_poll(struct mst_follow *f)
{
    uint64_t now_ns = mst_now_ns();
    bool sets_clock = mst_elapsed(f->clock_ns, now_ns) >= CLOCK_NS;
    struct board *b;

    if (!f->has_looked || mst_elapsed(f->looked_ns, now_ns) >= LOOK_NS) {
        look(f);
        f->looked_ns = now_ns;
        f->has_looked = true;
    }
    if (sets_clock)
        f->clock_ns = now_ns;
    if (f->archive == NULL && !open_archive(f))
        return;
    for (b = f->boards; b != NULL; b = b->next) {
        if (sets_clock)
            mst_source_set_clock(b->source);
        if (!poll_board(f, b)) {
            close_archive(f);
            return;
        }
    }
    if (mst_archive_commit(f->archive) != 0 || !forget_earlier(f))
        close_archive(f);
}

/* ---- export -------------------------------------------------------------------------------- */

/* The servers of the archive, as far as an export needs to know them. */
static bool read_servers(struct mst_follow *f, struct mst_summary *s)
{
    struct mst_query q = mst_query_ask(mst_archive_db(f->archive),
        "SELECT id, target, server, mpm, producer = 'php' AS is_php FROM servers WHERE "
        "run_id = :id", f->run);
    struct mst_summary_server *server;

    *s = (struct mst_summary){ .id = f->run };
    while (mst_query_next(&q)) {
        server = mst_append(&s->servers, &s->server_count, sizeof *server);
        if (server == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        server->id = mst_row_id(&q, "id");
        server->producer = mst_row_number(&q, "is_php") == 1 ? MST_PRODUCER_PHP
                                                             : MST_PRODUCER_APACHE;
        server->target = mst_row_string(&q, "target");
        server->server = mst_row_string(&q, "server");
        server->mpm = mst_row_string(&q, "mpm");
    }
    return mst_query_done(&q);
}

static void free_servers(struct mst_summary *s)
{
    while (s->server_count > 0) {
        struct mst_summary_server *server = &s->servers[--s->server_count];

        free(server->target);
        free(server->server);
        free(server->mpm);
    }
    free(s->servers);
}

/* Notes up to which row requests have waited long enough. By their arrival here: clocks can be
 * set. */
static bool settle(struct mst_follow *f, bool at_end)
{
    uint64_t now_ns = mst_now_ns();
    struct rows last = { 0 };

    if (!at_end && mst_elapsed(f->settling_ns, now_ns) < MST_FOLLOW_SETTLE_NS)
        return true;
    if (!find_last_rows(f, &last))
        return false;
    f->settled = at_end ? last.chosen : f->settling;
    f->settling = last.chosen;
    f->settling_ns = now_ns;
    return true;
}

/* Exports and deletes those that have settled. */
static bool export_settled(struct mst_follow *f, struct mst_export *e)
{
    char error[MST_ERROR_MAX];
    struct mst_summary s;
    bool fine;

    if (f->settled == 0)
        return true;
    e->choice = f->choice;
    e->choice.last_row = f->settled;
    fine = read_servers(f, &s) && mst_export_run(e, f->archive, &s, error) == 0 &&
           execute(f, "DELETE FROM server_requests WHERE rowid <= :id", f->settled);
    free_servers(&s);
    if (fine)
        f->waiting -= (uint64_t)sqlite3_changes(mst_archive_db(f->archive));
    f->settling = number_after(f->settling, f->settled);
    f->settled = 0;
    return fine;
}

void mst_follow_export(struct mst_follow *f, struct mst_export *e, bool at_end)
{
    if (f->archive == NULL || f->waiting == 0)
        return;
    if (!settle(f, at_end) || !export_settled(f, e))
        close_archive(f);
}

struct mst_follow_counts mst_follow_counts(const struct mst_follow *f)
{
    return f->counts;
}

/* ---- open and close ------------------------------------------------------------------------ */

struct mst_follow *mst_follow_open(char *const *targets, size_t target_count,
                                   const struct mst_export_choice *choice)
{
    struct mst_follow *f = calloc(1, sizeof *f);

    if (f != NULL)
        *f = (struct mst_follow){
            .targets = targets, .target_count = target_count, .choice = *choice,
            .began_ns = mst_realtime_ns(), .clock_ns = mst_now_ns(),
        };
    return f;
}

void mst_follow_close(struct mst_follow *f)
{
    if (f == NULL)
        return;
    while (f->boards != NULL)
        leave_board(f, &f->boards);
    if (f->archive != NULL)
        close_archive(f);
    free(f);
}

/* now.c - the servers of an explanation, and what their workers do at this moment. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "console/diag.h"
#include "explain/steps.h"
#include "segment/liveness.h"

/* ---- workers ------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text != NULL ? text : "");
}

/* The status page's own request is nobody's load. */
static bool is_askers(const struct mst_snapshot_slot *slot)
{
    return slot->label != NULL && strcmp(slot->label, MST_LABEL_STATUS_NAME) == 0;
}

static void add_worker(struct mst_explained_server *s, const struct mst_snapshot_slot *slot)
{
    struct mst_now_worker *w;

    if (!mst_grow(&s->workers, &s->worker_room, s->worker_count, sizeof *s->workers)) {
        s->out_of_memory = true;
        return;
    }
    w = &s->workers[s->worker_count++];
    memset(w, 0, sizeof *w);
    w->pid = slot->pid;
    copy(w->state, sizeof w->state, slot->state);
    copy(w->label, sizeof w->label, slot->label);
    copy(w->path, sizeof w->path, slot->path);
    w->busy_ns = slot->request_for_ns != MST_UNKNOWN ? slot->request_for_ns : slot->state_for_ns;
    copy(w->wait, sizeof w->wait, slot->wait);
    copy(w->wait_end, sizeof w->wait_end, slot->wait_end);
    w->wait_ns = slot->wait_for_ns;
}

/* Whether the file of a Unix socket on which a process listens is gone, as that process sees it. */
static bool is_removed(uint64_t pid, const char *address)
{
    char path[MST_LISTEN_ADDRESS_MAX + 32];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/root%s", pid, address);
    return address[0] == '/' && lstat(path, &st) != 0 && errno == ENOENT;
}

static void look_for_socket(struct mst_explained_server *s, const struct mst_snapshot *board)
{
    const char *address;
    size_t i;

    s->lost_socket[0] = '\0';
    for (i = 0; i < board->listener_count && mst_source_local(s->source); i++) {
        address = board->listeners[i].address;
        if (address != NULL && is_removed(board->pid, address))
            copy(s->lost_socket, sizeof s->lost_socket, address);
    }
}

/* A mst_source_see: the busy workers stand first. */
static void see(void *context, const struct mst_snapshot *board)
{
    struct mst_explained_server *s = context;
    size_t i;

    s->worker_count = 0;
    s->is_running = board->running == NULL || strcmp(board->running, "no") != 0;
    if (s->is_running && board->listeners_known)
        look_for_socket(s, board);
    for (i = s->php_cpu_ns = 0; i < board->label_count; i++)
        s->php_cpu_ns += mst_known(board->labels[i].php_user_ns) +
                         mst_known(board->labels[i].php_system_ns);
    for (i = 0; i < board->slot_count; i++)
        if (board->slots[i].state != NULL &&
            strcmp(board->slots[i].state, mst_state_names[MST_STATE_IDLE]) != 0 &&
            !is_askers(&board->slots[i]))
            add_worker(s, &board->slots[i]);
}

bool mst_now_is_stuck(const struct mst_explained_server *s, const char *label, uint64_t limit,
                      uint64_t *idle_ns)
{
    uint64_t busy = 0;
    size_t i;

    *idle_ns = MST_UNKNOWN;
    for (i = 0; i < s->worker_count; i++)
        if (label == NULL || strcmp(s->workers[i].label, label) == 0) {
            busy++;
            *idle_ns = s->workers[i].busy_ns < *idle_ns ? s->workers[i].busy_ns : *idle_ns;
        }
    return s->is_running && limit != MST_UNKNOWN && limit > 0 &&
           busy * 1000 >= limit * MST_STUCK_MILLI && *idle_ns != MST_UNKNOWN &&
           *idle_ns >= MST_STUCK_NS;
}

/* ---- servers ------------------------------------------------------------------------------- */

/* The same server by another name: a board and its status URL. */
static bool is_known(const struct mst_explanation *e, const struct mst_source *source)
{
    const struct mst_source_identity *other, *id = mst_source_identity(source);
    size_t i;

    for (i = 0; i < e->server_count; i++) {
        other = mst_source_identity(e->servers[i].source);
        if (other->producer == id->producer && other->pid == id->pid &&
            other->started_wall_ns == id->started_wall_ns)
            return true;
    }
    return false;
}

/* 0; -1 with a sentence; 1: it is there already. */
static int add_server(struct mst_explanation *e, struct mst_target *target,
                      char error[MST_ERROR_MAX])
{
    struct mst_explained_server *s = &e->servers[e->server_count];

    *s = (struct mst_explained_server){ .target = target };
    s->source = mst_source_open(target, error);
    if (s->source == NULL)
        return -1;
    if (!is_known(e, s->source)) {
        mst_source_watch(s->source, see, s);
        if (mst_source_sample(s->source, &s->sample, error) == 0) {
            e->server_count++;
            return 0;
        }
        mst_source_close(s->source);
        mst_sample_free(&s->sample);
        return -1;
    }
    mst_source_close(s->source);
    return 1;
}

static bool add_behind(struct mst_explanation *e, const struct mst_source *source)
{
    const char *name;
    size_t k;

    for (k = 0; (name = mst_source_other(source, k)) != NULL; k++)
        if (!mst_targets_have(&e->targets, name) && !mst_targets_have(&e->behind, name) &&
            mst_targets_add_behind(&e->behind, name, mst_source_target(source)) != 0)
            return false;
    return true;
}

/* Room for a server of each target. */
static bool make_room(struct mst_explanation *e)
{
    size_t room = e->targets.count + e->behind.count + 1;
    struct mst_explained_server *bigger = reallocarray(e->servers, room, sizeof *bigger);
    size_t i;

    if (bigger == NULL)
        return false;
    e->servers = bigger;
    for (i = 0; i < e->server_count; i++)
        mst_source_watch(e->servers[i].source, see, &e->servers[i]);
    return true;
}

static bool open_all(struct mst_explanation *e, struct mst_targets *targets, bool are_named,
                     bool *failed)
{
    char error[MST_ERROR_MAX];
    size_t i;

    if (!make_room(e))
        return false;
    for (i = 0; i < targets->count; i++)
        if (add_server(e, &targets->items[i], error) < 0) {
            *failed |= are_named;
            (are_named ? mst_error : mst_warn)("%s", error);
        }
    return true;
}

static void forget(struct mst_explained_server *s)
{
    mst_source_close(s->source);
    mst_sample_free(&s->sample);
    free(s->workers);
}

/* Processes of a PHP-FPM whose master was killed serve on. */
static void count_left(struct mst_explained_server *s)
{
    if (!s->is_running && mst_server_is_fpm(s) && s->target->is_open && mst_source_local(s->source))
        s->workers_left = mst_reader_processes_alive(&s->target->reader);
}

static bool has_another(const struct mst_explanation *e, const struct mst_explained_server *ended)
{
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (e->servers[i].is_running &&
            mst_server_is_php(&e->servers[i]) == mst_server_is_php(ended) &&
            mst_server_is_fpm(&e->servers[i]) == mst_server_is_fpm(ended))
            return true;
    return false;
}

/* Boards of servers that have ended stay until the next start: where others run, these explain
 * nothing, but for those that the others miss. */
static void forget_ended(struct mst_explanation *e)
{
    size_t running = 0, kept = 0, i;

    for (i = 0; i < e->server_count; i++)
        running += e->servers[i].is_running;
    for (i = 0; i < e->server_count && running > 0; i++) {
        struct mst_explained_server *s = &e->servers[i];

        s->is_aside = !s->is_running && s->workers_left == 0;
        if (s->is_aside && (has_another(e, s) || (mst_server_is_php(s) && !mst_server_is_fpm(s))))
            forget(s);
        else
            e->servers[kept++] = *s;
    }
    e->server_count = running > 0 ? kept : e->server_count;
}

void mst_explanation_free(struct mst_explanation *e)
{
    char ignored[MST_ERROR_MAX];

    while (e->server_count > 0)
        forget(&e->servers[--e->server_count]);
    free(e->servers);
    mst_summary_free(&e->summary);
    mst_archive_close(e->archive, ignored);
    mst_targets_free(&e->targets);
    mst_targets_free(&e->behind);
    *e = (struct mst_explanation){ 0 };
}

int mst_explain_look(struct mst_explanation *e, const struct mst_target_names *targets)
{
    char error[MST_ERROR_MAX];
    bool failed = false;
    size_t i;

    if (mst_targets_find(&e->targets, targets, error) != 0)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    if (e->targets.note[0] != '\0')
        mst_warn("%s", e->targets.note);
    if (!open_all(e, &e->targets, mst_targets_named(targets), &failed))
        return mst_failed(MST_EXIT_TARGET, "out of memory");
    for (i = 0; i < e->server_count; i++)
        if (!add_behind(e, e->servers[i].source))
            return mst_failed(MST_EXIT_TARGET, "out of memory");
    if (!open_all(e, &e->behind, false, &failed))
        return mst_failed(MST_EXIT_TARGET, "out of memory");
    if (failed)
        return MST_EXIT_TARGET;
    for (i = 0; i < e->server_count; i++)
        count_left(&e->servers[i]);
    if (!mst_targets_named(targets))
        forget_ended(e);
    mst_explain_join(e);
    return e->server_count > 0 ? MST_EXIT_OK
                               : mst_failed(MST_EXIT_TARGET, "no server could be read");
}

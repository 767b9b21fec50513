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
#include "system/proc.h"

/* ---- workers ------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text != NULL ? text : "");
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

/* A mst_source_see. */
static void see(void *context, const struct mst_snapshot *board)
{
    struct mst_explained_server *s = context;
    size_t i;

    mst_present_take(&s->now, board);
    s->is_running = s->now.is_running;
    if (s->is_running && board->listeners_known)
        look_for_socket(s, board);
    for (i = s->php_cpu_ns = 0; i < board->label_count; i++)
        s->php_cpu_ns += mst_known(board->labels[i].php_user_ns) +
                         mst_known(board->labels[i].php_system_ns);
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
    mst_present_free(&s->now);
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

/* False: out of memory. */
static bool join(struct mst_explanation *e)
{
    struct mst_present **all = mst_explain_present(e);
    size_t i, k;

    for (i = 0; all != NULL && i < e->server_count; i++) {
        for (k = 0; !mst_source_is_beside(e->servers[k].source, e->servers[i].source) && k < i; k++)
            ;
        all[i]->place = k;
    }
    if (all != NULL)
        mst_present_join(all, e->server_count);
    free(all);
    return all != NULL;
}

struct mst_present **mst_explain_present(struct mst_explanation *e)
{
    struct mst_present **all = calloc(e->server_count + 1, sizeof *all);
    size_t i;

    for (i = 0; all != NULL && i < e->server_count; i++)
        all[i] = &e->servers[i].now;
    return all;
}

static void note_files(struct mst_summary_resources *r, const struct mst_explained_server *s)
{
    uint64_t files, limit;
    size_t i;

    for (i = 0; i < s->sample.process_count; i++) {
        files = mst_proc_files(s->sample.processes[i].pid);
        limit = mst_proc_files_limit(s->sample.processes[i].pid);
        if (files == MST_UNKNOWN || limit == MST_UNKNOWN || limit == 0 ||
            (r->files != MST_UNKNOWN && files * r->files_limit <= r->files * limit))
            continue;
        r->files = files;
        r->files_limit = limit;
        r->files_pid = s->sample.processes[i].pid;
    }
}

void mst_explain_note_files(struct mst_explanation *e)
{
    struct mst_summary_server *summary;
    size_t i;

    for (i = 0; i < e->server_count; i++) {
        summary = mst_explain_summary_of(e, &e->servers[i]);
        if (summary != NULL && e->servers[i].is_running &&
            mst_source_local(e->servers[i].source))
            note_files(&summary->resources, &e->servers[i]);
    }
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
    if (!join(e))
        return mst_failed(MST_EXIT_TARGET, "out of memory");
    return e->server_count > 0 ? MST_EXIT_OK
                               : mst_failed(MST_EXIT_TARGET, "no server could be read");
}

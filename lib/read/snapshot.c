/* snapshot.c - turns a copy of a board into numbers with a meaning.
 *
 * Every reader does this between copying and rendering.
 */
#include "read/component.h"
#include "read/snapshot_draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/memory.h"
#include "base/saturate.h"
#include "segment/fields.h"

static const char *producer_name(uint32_t producer)
{
    switch (producer) {
    case MST_PRODUCER_APACHE: return "apache";
    case MST_PRODUCER_PHP:    return "php";
    default:                  return NULL;   /* a newer writer's producer */
    }
}

/* Unknown where the time still ran when the server was killed. */
static uint64_t no_idle_ns(const struct mst_draft *m)
{
    uint64_t word = m->copy->header.no_idle;

    if (!(word & MST_NO_IDLE_RUNNING))
        return word;
    return m->end_ns != 0 ? mst_elapsed(word & ~MST_NO_IDLE_RUNNING, m->end_ns) : MST_UNKNOWN;
}

/* The part of the time without an idle worker that no event has reported yet. */
static uint64_t unreported_ns(const struct mst_draft *m)
{
    const struct mst_header *h = &m->copy->header;

    if (!(h->no_idle & MST_NO_IDLE_RUNNING) && h->no_idle_ended_ns < m->copy->window.since_ns)
        return 0;
    return mst_elapsed(h->no_idle_told_ns, m->s->no_idle_ns);
}

static void fill_window(struct mst_draft *m)
{
    const struct mst_window *w = &m->copy->window;
    struct mst_snapshot *s = m->s;

    s->window_ns = s->no_idle_window_ns = MST_UNKNOWN;
    if (w->since_ns == MST_UNKNOWN || m->end_ns == 0)
        return;
    s->window_ns = mst_elapsed(w->since_ns, m->end_ns);
    if (w->told_ns == MST_UNKNOWN || s->no_idle_ns == MST_UNKNOWN)
        return;
    s->no_idle_window_ns = mst_add_saturated(w->told_ns, unreported_ns(m));
    if (s->no_idle_window_ns > s->window_ns)
        s->no_idle_window_ns = s->window_ns;
    if (s->no_idle_window_ns > s->no_idle_ns)
        s->no_idle_window_ns = s->no_idle_ns;
}

static uint64_t unless_zero(uint64_t value)
{
    return value != 0 ? value : MST_UNKNOWN;
}

/* Where it was asked and has memory, 0 is a number. */
static void fill_opcache(struct mst_draft *m)
{
    const struct mst_opcache *o = &m->copy->header.opcache;
    struct mst_snapshot *s = m->s;
    bool has_memory = o->limit_bytes != 0;

    if (m->copy->header.producer == MST_PRODUCER_PHP)
        s->opcache = mst_opcache_names[o->state < MST_OPCACHE_STATE_COUNT ? o->state
                                                                          : MST_OPCACHE_UNKNOWN];
    s->opcache_limit_bytes = unless_zero(o->limit_bytes);
    s->opcache_used_bytes = has_memory ? o->used_bytes : MST_UNKNOWN;
    s->opcache_wasted_bytes = has_memory ? o->wasted_bytes : MST_UNKNOWN;
    s->opcache_scripts = has_memory ? o->scripts : MST_UNKNOWN;
    s->opcache_keys_limit = unless_zero(o->keys_limit);
    s->opcache_keys = has_memory ? o->keys : MST_UNKNOWN;
    s->opcache_hits = has_memory ? o->hits : MST_UNKNOWN;
    s->opcache_misses = has_memory ? o->misses : MST_UNKNOWN;
    s->opcache_restarts = has_memory ? o->restarts : MST_UNKNOWN;
}

static void fill_server(struct mst_draft *m, int running)
{
    const struct mst_header *h = &m->copy->header;
    struct mst_snapshot *s = m->s;

    s->producer = producer_name(h->producer);
    s->version = mst_draft_keep_unless_empty(m, h->version_text);
    s->server = mst_draft_keep_unless_empty(m, h->server);
    s->mpm = mst_draft_keep_unless_empty(m, h->mpm);
    s->sapi = mst_draft_keep_unless_empty(m, h->sapi);
    s->settings = mst_draft_keep_unless_empty(m, h->settings);
    s->path = mst_draft_keep(m, m->copy->reader->path);
    s->owner = mst_owner_is_ours(m->copy->reader->owner) ? MST_UNKNOWN : m->copy->reader->owner;
    s->pid = h->pid;
    s->generation = h->generation;
    s->running = m->stopped ? "no" : running > 0 ? "yes" : "unknown";
    s->up = m->stopped ? 0 : running > 0 ? 1 : MST_UNKNOWN;
    s->started_ns = mst_wall_ns(h, h->started_ns);
    s->stopped_ns = m->stopped && h->stopped_ns != 0 ? mst_wall_ns(h, h->stopped_ns)
                                                     : MST_UNKNOWN;
    s->uptime_ns = m->end_ns != 0 ? mst_elapsed(h->started_ns, m->end_ns) : MST_UNKNOWN;
    s->board_bytes = h->file_bytes;
    s->workers_limit = h->workers_limit;
    s->workers_busy_max = h->busy_max > 0 ? (uint64_t)h->busy_max : 0;
    s->no_idle_ns = no_idle_ns(m);
    /* A board has one of the two request journals. */
    s->requests_capacity = (uint64_t)h->section[MST_SECTION_REQUESTS].count
                         + h->section[MST_SECTION_PHP_REQUESTS].count;
    s->requests_written = mst_add_saturated(h->requests_written, h->php_requests_written);
    s->lifecycle_capacity = h->section[MST_SECTION_LIFECYCLE].count;
    s->lifecycle_written = h->lifecycle_written;
    fill_window(m);
    fill_opcache(m);
}

/* What the caller knows from outside the board. */
static void fill_world(struct mst_snapshot *s, const struct mst_world *world)
{
    s->listeners_known = world->listeners_known;
    s->listener_count = world->listener_count;
    s->listeners = world->listeners;
    s->listen_overflows = world->drops_known ? world->listen_overflows : MST_UNKNOWN;
    s->listen_drops = world->drops_known ? world->listen_drops : MST_UNKNOWN;
    s->apache_scoreboard = world->apache_scoreboard;
}

/* Returns -1 where there is not enough memory. */
static int name_pools(struct mst_draft *m, const char **names)
{
    struct mst_snapshot *s = m->s;
    size_t i;

    if (m->copy->header.producer != MST_PRODUCER_PHP || s->listener_count == 0)
        return 0;
    s->fpm_listeners = mst_zalloc(s->listener_count, sizeof *s->fpm_listeners);
    if (s->fpm_listeners == NULL)
        return -1;
    memcpy(s->fpm_listeners, s->listeners, s->listener_count * sizeof *s->listeners);
    for (i = 0; i < s->listener_count; i++) {
        size_t label = s->listeners[i].address == NULL ? m->copy->label_count
                     : mst_copy_pool_at(m->copy, s->listeners[i].address);

        if (label < m->copy->label_count)
            s->fpm_listeners[i].pool = names[label];
    }
    s->listeners = s->fpm_listeners;
    return 0;
}

static void fill_connections(struct mst_draft *m)
{
    uint64_t limit = m->copy->header.http2_workers_limit;
    size_t i;

    m->s->http2_workers_limit = limit != 0 ? limit : MST_UNKNOWN;
    m->s->http2_workers_busy = limit != 0 ? 0 : MST_UNKNOWN;
    for (i = 0; i < m->copy->process_count; i++) {
        const struct mst_process *p = &m->copy->processes[i];

        m->s->accepted = mst_add_saturated(m->s->accepted, p->accepted);
        if (!mst_draft_is_owned(m, p) || m->stopped)
            continue;
        if (p->connections > 0)
            m->s->connections = mst_add_saturated(m->s->connections, (uint64_t)p->connections);
        if (p->streams > 0)
            m->s->http2_streams = mst_add_saturated(m->s->http2_streams, (uint64_t)p->streams);
        if (p->http2_busy > 0 && (uint64_t)p->http2_busy > m->s->http2_workers_busy)
            m->s->http2_workers_busy = (uint64_t)p->http2_busy;
    }
}

#define CODE_MAX (MST_FRAME_FUNCTION_MAX + MST_FRAME_FILE_MAX + MST_COMPONENT_MAX)

static bool allocate(struct mst_draft *m, size_t slots)
{
    const struct mst_copy *c = m->copy;
    struct mst_snapshot *s = m->s;

    /* The upper limit of all texts: the header's, the path, the labels', the other ends', the
     * workers' paths, those that they wait for and where their code is, and the scoreboard. */
    m->text_left = sizeof c->header + sizeof c->reader->path
                 + (c->label_count + c->end_count) * MST_NAME_MAX
                 + slots * (MST_PATH_MAX + MST_NAME_MAX + CODE_MAX + 1) + 1;
    s->storage = m->text = mst_zalloc(1, m->text_left);
    s->labels = mst_zalloc(c->label_count + 1, sizeof *s->labels);
    s->slots = mst_zalloc(slots + 1, sizeof *s->slots);
    s->ends = mst_zalloc(c->end_count, sizeof *s->ends);
    return s->storage != NULL && s->labels != NULL && s->slots != NULL && s->ends != NULL;
}

int mst_snapshot_make(struct mst_snapshot *s, const struct mst_copy *copy,
                      const struct mst_world *world)
{
    struct mst_draft m = { .s = s, .copy = copy };
    int running;
    size_t slots;
    const char **names;
    char *scoreboard;
    int rc = -1;

    memset(s, 0, sizeof *s);
    m.dead = calloc(copy->process_count + 1, sizeof *m.dead);
    m.in_flight = calloc(copy->label_count + 1, sizeof *m.in_flight);
    names = calloc(copy->label_count + 1, sizeof *names);
    if (m.dead == NULL || m.in_flight == NULL || names == NULL)
        goto done;
    running = mst_draft_find_running(&m, world->running);
    mst_draft_find_end(&m, running);
    slots = mst_draft_count_workers(&m);
    if (!allocate(&m, slots))
        goto done;
    scoreboard = m.text;
    s->scoreboard = scoreboard;
    m.text += slots + 1;
    m.text_left -= slots + 1;

    s->taken_ns = copy->taken_ns;
    fill_world(s, world);
    fill_server(&m, running);
    mst_draft_fill_stored(MST_SCOPE_BOARD, s, &copy->totals, 0, 1);
    fill_connections(&m);
    mst_draft_blank_foreign(&m, MST_SCOPE_BOARD, s);
    mst_draft_count_in_flight(&m);
    mst_draft_fill_labels(&m, names);
    mst_draft_fill_ends(&m);
    mst_draft_fill_workers(&m, names, scoreboard);
    if (world->exemplars)
        mst_exemplars_read(&s->exemplars, copy, names);
    rc = name_pools(&m, names);
    if (rc == 0)
        mst_draft_fill_wanted(&m, names);

done:
    free(names);
    free(m.in_flight);
    free(m.dead);
    if (rc != 0)
        mst_snapshot_free(s);
    return rc;
}

void mst_snapshot_free(struct mst_snapshot *s)
{
    mst_zfree(s->storage);
    mst_zfree(s->labels);
    mst_zfree(s->slots);
    mst_zfree(s->ends);
    mst_zfree(s->fpm_listeners);
    mst_exemplars_free(&s->exemplars);
    memset(s, 0, sizeof *s);
}

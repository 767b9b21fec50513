/* snapshot.c - turns a copy of a board into numbers with a meaning.
 *
 * Every reader does this between copying and rendering. Here it is decided which processes are
 * alive, which times still run, and what a stop of the server means for them.
 */
#include "read/snapshot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/memory.h"
#include "base/saturate.h"
#include "segment/liveness.h"

static const char state_letters[MST_STATE_COUNT + 1] = "_RHSKC";

/* A snapshot in the making. */
struct making {
    struct mst_snapshot   *s;
    const struct mst_copy *copy;
    bool     stopped;
    bool    *dead;         /* by process: ended without notice, its entry is not freed yet */
    uint64_t *in_flight;   /* by label */
    uint64_t end_ns;       /* until when time has passed in workers; 0: unknown */
    char    *text;         /* the free part of s->storage */
    size_t   text_left;
};

#define OFFSET_BOARD(id)    offsetof(struct mst_snapshot, id)
#define OFFSET_LISTENER(id) offsetof(struct mst_snapshot_listener, id)
#define OFFSET_LABEL(id)    offsetof(struct mst_snapshot_label, id)
#define OFFSET_PHASE(id)    offsetof(struct mst_snapshot_phase, id)
#define OFFSET_SLOT(id)     offsetof(struct mst_snapshot_slot, id)

size_t mst_snapshot_offset(const struct mst_field *f)
{
    static const size_t offsets[] = {
#define MST_FIELD(scope, storage, id, ...) OFFSET_##scope(id),
#include "segment/fields.def"
#undef MST_FIELD
    };

    return offsets[f - mst_fields];
}

/* ---- pieces ------------------------------------------------------------------ */

/* Copies a text into the snapshot. */
static const char *keep(struct making *m, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = m->text;

    assert(size <= m->text_left);
    memcpy(kept, text, size);
    m->text += size;
    m->text_left -= size;
    return kept;
}

static const char *keep_unless_empty(struct making *m, const char *text)
{
    return text[0] != '\0' ? keep(m, text) : NULL;
}

/* Whether a living process holds the entry. */
static bool is_owned(const struct making *m, const struct mst_process *p)
{
    return mst_entry_is_claimed(p) && !m->dead[p - m->copy->processes];
}

static const struct mst_process *owner_of(const struct making *m, size_t worker)
{
    return &m->copy->processes[worker / m->copy->header.threads_per_process];
}

/* Whether a living process has the worker, in a state that this build knows. */
static bool is_working(const struct making *m, size_t worker)
{
    return is_owned(m, owner_of(m, worker)) && m->copy->workers[worker].state < MST_STATE_COUNT;
}

/* When the worker's present state began. The sum of hostile words is far in the future, since
 * when no time has passed. */
static uint64_t state_since(const struct mst_worker *w)
{
    uint64_t since = w->base_ns;
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        since = mst_add_saturated(since, w->state_ns[i]);
    return since;
}

/* ---- the server -------------------------------------------------------------- */

static const char *producer_name(uint32_t producer)
{
    switch (producer) {
    case MST_PRODUCER_APACHE: return "apache";
    case MST_PRODUCER_PHP:    return "php";
    default:                  return NULL;   /* a newer writer's producer */
    }
}

/* Unknown where the time still ran when the server was killed. */
static uint64_t no_idle_ns(const struct making *m)
{
    uint64_t word = m->copy->header.no_idle;

    if (!(word & MST_NO_IDLE_RUNNING))
        return word;
    return m->end_ns != 0 ? mst_elapsed(word & ~MST_NO_IDLE_RUNNING, m->end_ns) : MST_UNKNOWN;
}

/* The part of the time without an idle worker that no event has reported yet. */
static uint64_t unreported_ns(const struct making *m)
{
    const struct mst_header *h = &m->copy->header;

    if (!(h->no_idle & MST_NO_IDLE_RUNNING) && h->no_idle_ended_ns < m->copy->window.since_ns)
        return 0;
    return mst_elapsed(h->no_idle_told_ns, m->s->no_idle_ns);
}

static void fill_window(struct making *m)
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

static void fill_server(struct making *m, int running)
{
    const struct mst_header *h = &m->copy->header;
    struct mst_snapshot *s = m->s;

    s->producer = producer_name(h->producer);
    s->version = keep_unless_empty(m, h->version_text);
    s->server = keep_unless_empty(m, h->server);
    s->mpm = keep_unless_empty(m, h->mpm);
    s->sapi = keep_unless_empty(m, h->sapi);
    s->settings = keep_unless_empty(m, h->settings);
    s->path = keep(m, m->copy->reader->path);
    s->owner = mst_owner_is_ours(m->copy->reader->owner) ? MST_UNKNOWN : m->copy->reader->owner;
    s->pid = h->pid;
    s->generation = h->generation;
    s->running = m->stopped ? "no" : running > 0 ? "yes" : "unknown";
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

/* Copies the stored fields of a scope from the board's struct to the snapshot's. A PHASE's field
 * is an array of `elements` in the former, and one element in the latter. */
static void fill_stored(enum mst_scope scope, void *to, const void *from, size_t element,
                        size_t elements)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        size_t bytes = f->stored_words * sizeof(uint64_t) / elements;

        if (f->scope == scope && f->storage != MST_STORAGE_NONE)
            memcpy((char *)to + mst_snapshot_offset(f),
                   (const char *)from + f->stored_offset + element * bytes, bytes);
    }
}

/* Makes the fields unknown that the board's producer does not have, whatever is stored. */
static void blank_foreign(const struct making *m, enum mst_scope scope, void *element)
{
    size_t i, n, words;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        char *member = (char *)element + mst_snapshot_offset(f);
        const char *const *names;

        if (f->scope != scope || f->of & 1u << m->copy->header.producer)
            continue;
        if (f->type == MST_TYPE_STRING) {
            memcpy(member, &(const char *){ NULL }, sizeof(const char *));
            continue;
        }
        n = mst_type_elements(f->type, &names);
        words = f->type == MST_TYPE_HISTOGRAM ? sizeof(struct mst_histogram) / sizeof(uint64_t)
              : n > 0 ? n : 1;
        memset(member, 0xff, words * sizeof(uint64_t));   /* MST_UNKNOWN */
    }
}

static void fill_connections(struct making *m)
{
    size_t i;

    for (i = 0; i < m->copy->process_count; i++) {
        const struct mst_process *p = &m->copy->processes[i];

        m->s->accepted = mst_add_saturated(m->s->accepted, p->accepted);
        if (!is_owned(m, p) || m->stopped)
            continue;
        if (p->connections > 0)
            m->s->connections = mst_add_saturated(m->s->connections, (uint64_t)p->connections);
        if (p->streams > 0)
            m->s->http2_streams = mst_add_saturated(m->s->http2_streams, (uint64_t)p->streams);
    }
}

/* ---- labels -------------------------------------------------------------------- */

static void fill_phase(struct mst_snapshot_phase *phase)
{
    const struct mst_histogram *h = &phase->times;

    phase->count = mst_histogram_count(h);
    phase->sum_ns = h->sum_ns;
    phase->p50_ns = phase->p90_ns = phase->p99_ns = phase->max_ns = MST_UNKNOWN;
    if (phase->count == 0 || phase->count == MST_UNKNOWN)
        return;
    phase->p50_ns = mst_histogram_quantile(h, 0.50);
    phase->p90_ns = mst_histogram_quantile(h, 0.90);
    phase->p99_ns = mst_histogram_quantile(h, 0.99);
    /* A copy between a writer's count and its maximum must not put p99 above. */
    phase->max_ns = h->max_ns > phase->p99_ns ? h->max_ns : phase->p99_ns;
}

/* Classes that the writer does not know are unknown: it counted no request in them. */
static uint64_t sum_of_classes(const uint64_t status[MST_CLASS_COUNT])
{
    uint64_t sum = 0;
    unsigned i;

    if (status[0] == MST_UNKNOWN)
        return MST_UNKNOWN;
    for (i = 0; i < MST_CLASS_COUNT; i++)
        if (status[i] != MST_UNKNOWN)
            sum = mst_add_saturated(sum, status[i]);
    return sum;
}

/* Counts the requests in flight of each label: those that workers show, and the others. (One
 * worker can count down what another counted up, so a copy can see a negative number of the
 * others for a moment.) */
static void count_in_flight(struct making *m)
{
    const struct mst_copy *c = m->copy;
    size_t i, label;

    for (i = 0; i < c->process_count && !m->stopped; i++)
        for (label = 0; label < c->label_count && is_owned(m, &c->processes[i]); label++) {
            uint32_t n = c->in_flight[i * c->label_count + label];

            m->in_flight[label] += n <= INT32_MAX ? n : 0;
        }
    for (i = 0; i < c->worker_count && !m->stopped; i++)
        if (c->workers[i].request_label < c->label_count && is_working(m, i))
            m->in_flight[c->workers[i].request_label]++;
}

static void fill_label(struct making *m, struct mst_snapshot_label *to, size_t label)
{
    const struct mst_label_name *name = &m->copy->labels[label];
    const struct mst_counters *counters = &m->copy->counters[label];
    unsigned i;

    to->label = keep(m, name->name);
    to->in_flight = m->in_flight[label];
    to->workers_limit = name->workers_limit != 0 ? name->workers_limit : MST_UNKNOWN;
    to->limit_reached = name->workers_limit != 0 && name->asked_ns != MST_UNKNOWN
                      ? name->limit_reached : MST_UNKNOWN;
    fill_stored(MST_SCOPE_LABEL, to, counters, 0, 1);
    to->requests = sum_of_classes(to->status);
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        int place = mst_phase_index(m->copy->header.producer, (enum mst_phase)i);

        memset(&to->phases[i], 0xff, sizeof to->phases[i]);   /* MST_UNKNOWN */
        if (place < 0)
            continue;
        fill_stored(MST_SCOPE_PHASE, &to->phases[i], counters, (size_t)place, MST_COUNTED_PHASES);
        fill_phase(&to->phases[i]);
    }
    blank_foreign(m, MST_SCOPE_LABEL, to);
}

/* Whether the label is shown. PHP has no status page, though its board has that label. */
static bool is_label(const struct mst_copy *c, size_t label)
{
    return c->labels[label].used
           && (label != MST_LABEL_STATUS || c->header.producer != MST_PRODUCER_PHP);
}

/* Sets names[index] to the snapshot's copy of the name; it stays NULL for an unused index. */
static void fill_labels(struct making *m, const char **names)
{
    size_t i;

    for (i = 0; i < m->copy->label_count; i++) {
        struct mst_snapshot_label *to = &m->s->labels[m->s->label_count];

        if (!is_label(m->copy, i))
            continue;
        fill_label(m, to, i);
        names[i] = to->label;
        m->s->label_count++;
    }
}

/* ---- workers --------------------------------------------------------------------- */

static void fill_slot(struct making *m, struct mst_snapshot_slot *slot, size_t worker,
                      const char *const *names)
{
    const struct mst_worker *w = &m->copy->workers[worker];

    slot->slot = worker;
    slot->pid = owner_of(m, worker)->pid;
    slot->state = mst_state_names[w->state];
    slot->state_for_ns = mst_elapsed(state_since(w), m->end_ns);
    slot->request_for_ns = w->request_start_ns != 0
                         ? mst_elapsed(w->request_start_ns, m->end_ns) : MST_UNKNOWN;
    slot->requests = w->requests;
    slot->label = w->request_label < m->copy->label_count ? names[w->request_label] : NULL;
    slot->path = keep_unless_empty(m, w->path);
}

/* Adds the time that is counted in each state, and that which still runs. A dead worker's time
 * runs until its entry is freed, when it is counted: so the sum never decreases. */
static void add_state_times(struct making *m, size_t worker)
{
    const struct mst_worker *w = &m->copy->workers[worker];
    uint64_t *state_ns = m->s->state_ns;
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        state_ns[i] = mst_add_saturated(state_ns[i], w->state_ns[i]);
    if (mst_entry_is_claimed(owner_of(m, worker)) && w->state < MST_STATE_COUNT)
        state_ns[w->state] = mst_add_saturated(state_ns[w->state],
                                               mst_elapsed(state_since(w), m->end_ns));
}

static int descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* Orders by the time on the request, then by the time in the state, longest first. */
static int compare_busy(const void *left, const void *right)
{
    const struct mst_snapshot_slot *a = left, *b = right;
    /* + 1: MST_UNKNOWN (no request) becomes 0 and comes last. */
    int order = descending(a->request_for_ns + 1, b->request_for_ns + 1);

    if (order == 0)
        order = descending(a->state_for_ns, b->state_for_ns);
    return order == 0 ? descending(b->slot, a->slot) : order;
}

/* Adds the workers that are idle, or those that are not, in the order of the entries. */
static void fill_slots(struct making *m, const char *const *names, bool idle)
{
    size_t i;

    for (i = 0; i < m->copy->worker_count && !m->stopped; i++)
        if ((m->copy->workers[i].state == MST_STATE_IDLE) == idle && is_working(m, i))
            fill_slot(m, &m->s->slots[m->s->slot_count++], i, names);
}

static void fill_workers(struct making *m, const char *const *names, char *scoreboard)
{
    struct mst_snapshot *s = m->s;
    size_t i;

    for (i = 0; i < m->copy->worker_count; i++) {
        uint64_t state = m->copy->workers[i].state;

        add_state_times(m, i);
        if (m->stopped || !is_working(m, i))
            continue;
        s->workers[state]++;
        s->workers_busy += state != MST_STATE_IDLE;
        *scoreboard++ = state_letters[state];
    }
    *scoreboard = '\0';
    fill_slots(m, names, false);
    qsort(s->slots, s->slot_count, sizeof *s->slots, compare_busy);
    fill_slots(m, names, true);
}

/* ---- all of it --------------------------------------------------------------------- */

static size_t count_slots(const struct making *m)
{
    size_t count = 0, i;

    for (i = 0; i < m->copy->worker_count && !m->stopped; i++)
        count += is_working(m, i);
    return count;
}

static bool allocate(struct making *m, size_t slots)
{
    const struct mst_copy *c = m->copy;
    struct mst_snapshot *s = m->s;

    /* The upper limit of all texts: the header's, the path, the labels', the workers' paths and
     * the scoreboard. */
    m->text_left = sizeof c->header + sizeof c->reader->path + c->label_count * MST_NAME_MAX
                 + slots * (MST_PATH_MAX + 1) + 1;
    s->storage = m->text = mst_zalloc(1, m->text_left);
    s->labels = mst_zalloc(c->label_count + 1, sizeof *s->labels);
    s->slots = mst_zalloc(slots + 1, sizeof *s->slots);
    return s->storage != NULL && s->labels != NULL && s->slots != NULL;
}

/* A restart marks the board as stopped until the new configuration is read. A server that lives
 * longer than this after the mark has restarted without the module. */
#define RESTART_NS (10 * MST_NS_PER_S)

/* A board is stopped where its server is gone, or has marked it as stopped and is not
 * restarting. Without a mark (the server was killed) the time of the end is unknown. */
static void find_end(struct making *m, int running)
{
    const struct mst_header *h = &m->copy->header;
    bool gone = running < 0 || mst_elapsed(h->stopped_ns, m->copy->taken_ns) > RESTART_NS;

    m->stopped = running == 0 || (h->stopped_ns != 0 && gone);
    m->end_ns = m->stopped ? h->stopped_ns : m->copy->taken_ns;
}

/* Sets m->dead for processes that have ended and whose entries are not freed yet: FPM's master
 * frees them at its next fork, php-cgi's next process when it starts. (Apache's parent frees
 * them at once.) Returns whether any process is alive. */
static bool find_dead(struct making *m)
{
    const struct mst_copy *c = m->copy;
    bool any = false;
    size_t i;

    for (i = 0; i < c->process_count; i++) {
        const struct mst_process *p = &c->processes[i];

        m->dead[i] = mst_entry_is_claimed(p) && mst_entry_running(c->reader, p) == 0;
        any |= mst_entry_is_claimed(p) && !m->dead[i];
    }
    return any;
}

/* Whether the board's server runs: where its processes have no common parent, whether one of
 * them does. */
static int find_running(struct making *m, int running)
{
    bool any;

    if (m->copy->header.producer != MST_PRODUCER_PHP || running != 1)
        return running;
    any = find_dead(m);
    return mst_header_has_no_parent(&m->copy->header) ? any : running;
}

int mst_snapshot_make(struct mst_snapshot *s, const struct mst_copy *copy,
                      const struct mst_world *world)
{
    struct making m = { .s = s, .copy = copy };
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
    running = find_running(&m, world->running);
    find_end(&m, running);
    slots = count_slots(&m);
    if (!allocate(&m, slots))
        goto done;
    scoreboard = m.text;
    s->scoreboard = scoreboard;
    m.text += slots + 1;
    m.text_left -= slots + 1;

    s->taken_ns = copy->taken_ns;
    fill_world(s, world);
    fill_server(&m, running);
    fill_stored(MST_SCOPE_BOARD, s, &copy->totals, 0, 1);
    fill_connections(&m);
    blank_foreign(&m, MST_SCOPE_BOARD, s);
    count_in_flight(&m);
    fill_labels(&m, names);
    fill_workers(&m, names, scoreboard);
    rc = 0;

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
    memset(s, 0, sizeof *s);
}

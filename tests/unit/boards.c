/* boards.c - snapshots made by hand. See boards.h. */
#include "boards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "render/scope.h"

#define HOSTILE "a]b: \"q\"\t\n\\ \x01\x1b[31m\x7f\xc2\x9b\x80\xc3\xa9\xed\xa0\x80" \
                "\xf0\x9f\x98\x80\xc3"
#define BUSY_SLOTS 23u
#define SLOTS      26u

/* ---- an Apache ------------------------------------------------------------------- */

static void observe(struct mst_snapshot_phase *phase, unsigned times, uint64_t ns)
{
    struct mst_histogram *h = &phase->times;

    h->buckets[mst_histogram_bucket(ns)] += times;
    h->sum_ns += times * ns;
    if (ns > h->max_ns)
        h->max_ns = ns;
    phase->count = mst_histogram_count(h);
    phase->sum_ns = h->sum_ns;
    phase->p50_ns = mst_histogram_quantile(h, 0.5);
    phase->p90_ns = mst_histogram_quantile(h, 0.9);
    phase->p99_ns = mst_histogram_quantile(h, 0.99);
    phase->max_ns = h->max_ns;
}

/* Nothing observed yet: no quantiles. Of the phases, and fields, that the producer
 * does not have nothing is known. */
static void begin_label(struct mst_snapshot_label *label, uint32_t producer, const char *name)
{
    const char *const *names;
    size_t i;

    memset(label, 0, sizeof *label);
    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        size_t elements = mst_type_elements(f->type, &names);

        if (f->scope == MST_SCOPE_LABEL && !(f->of & 1u << producer))
            memset((char *)label + mst_snapshot_offset(f), 0xff,
                   (elements > 0 ? elements : 1) * sizeof(uint64_t));
    }
    label->label = name;
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        struct mst_snapshot_phase *phase = &label->phases[i];

        if (mst_phase_index(producer, (enum mst_phase)i) < 0)
            memset(phase, 0xff, sizeof *phase);
        phase->p50_ns = phase->p90_ns = phase->p99_ns = phase->max_ns = MST_UNKNOWN;
    }
}

static void fill_busy_label(struct mst_snapshot_label *label, const char *name)
{
    static const uint64_t ns[] = { 0, 16384, 204000000, 3, 204016387, 204000001, 1500000 };
    unsigned i;

    begin_label(label, MST_PRODUCER_APACHE, name);
    label->requests = 1000;
    label->bytes = UINT64_C(71680000);
    label->in_flight = 3;
    label->status[MST_CLASS_2XX] = 990;
    label->status[MST_CLASS_5XX] = 7;
    label->status[MST_CLASS_ABORTED] = 3;
    for (i = 0; i < sizeof ns / sizeof ns[0]; i++) {
        observe(&label->phases[i], 999, ns[i]);
        observe(&label->phases[i], 1, UINT64_C(5000) * MST_NS_PER_S);
    }
}

static void fill_apache_slots(struct mst_snapshot_slot slots[SLOTS])
{
    unsigned i;

    for (i = 0; i < SLOTS; i++) {
        struct mst_snapshot_slot *slot = &slots[i];
        bool busy = i < BUSY_SLOTS;

        slot->slot = i * 7;
        slot->pid = 4243 + i / 5;
        slot->state = mst_state_names[busy ? 1 + i % (MST_STATES_FIRST - 1) : MST_STATE_IDLE];
        slot->state_for_ns = (SLOTS - i) * 1000000001ull;
        slot->request_for_ns = busy ? (SLOTS - i) * 1500000002ull : MST_UNKNOWN;
        slot->request_id = busy ? (UINT64_C(7) << 32) + i : MST_UNKNOWN;
        slot->requests = i;
        slot->label = busy ? "www.example.com:443" : NULL;
        slot->path = NULL;
        slot->wait_for_ns = slot->code_line = MST_UNKNOWN;
    }
    slots[0].path = "/sleep.php";
    slots[1].path = HOSTILE;
    slots[1].label = HOSTILE;
}

static void fill_apache_counts(struct mst_snapshot *s)
{
    static const uint64_t workers[MST_STATE_COUNT] = { 3, 5, 5, 5, 4, 4 };
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++) {
        s->workers[i] = workers[i];
        s->state_ns[i] = i * 123456789012ull + 1;
    }
    s->workers_limit = 400;
    s->workers_busy = BUSY_SLOTS;
    s->workers_wanted = 29;
    s->workers_busy_max = 27;
    s->connections = 31;
    s->accepted = INT64_MAX;
    s->shed = 0;
    s->http2_streams = 6;
    s->http2_requests = 77;
    s->http2_workers_limit = 25;
    s->http2_workers_busy = 6;
    s->listen_overflows = 17;
    s->listen_drops = 19;
    s->forks[MST_KIND_CHILD] = 8;
    s->forks[MST_KIND_REQUEST] = 1;
    s->ended[MST_KIND_CHILD] = 2;
    s->ended[MST_KIND_REQUEST] = 1;
    s->exits[MST_REASON_KILLED] = 2;
    s->forks_failed = 0;
    s->no_idle_ns = 5000000000;
    s->no_idle_window_ns = 1500000000;
    s->generations = 3;
    s->unfinished = MST_UNKNOWN;                     /* an older writer does not say */
    s->requests_capacity = 65536;
    s->requests_written = 1001;
    s->window_ns = UINT64_C(600000000000);
    s->lifecycle_capacity = 4096;
    s->lifecycle_written = 11;
}

static void fill_apache(struct mst_snapshot *s)
{
    static struct mst_snapshot_listener listeners[] = {
        { .address = "127.0.0.1:80", .sockets = 2, .queue = 5, .queue_limit = 1022,
          .queue_fullest = 4, .connections = MST_UNKNOWN },
        { .address = "[::1]:8080", .sockets = 2, .queue = MST_UNKNOWN, .queue_limit = MST_UNKNOWN,
          .queue_fullest = MST_UNKNOWN, .connections = MST_UNKNOWN },
        { .address = NULL, .sockets = 1, .queue = 1, .queue_limit = 2, .queue_fullest = 1,
          .connections = MST_UNKNOWN },
    };
    static struct mst_snapshot_label labels[4];
    static struct mst_snapshot_slot slots[SLOTS];

    s->producer = "apache";
    s->version = "0.1.0";
    s->server = "Apache/2.4.62 (\"Debian\")\nBoard: forged";
    s->mpm = "event";
    s->path = "/run/apache2/mpmstat.board";
    s->owner = MST_UNKNOWN;                          /* root's */
    s->pid = 4242;
    s->generation = 3;
    s->started_ns = UINT64_C(1700000000123456789);
    s->stopped_ns = MST_UNKNOWN;
    s->running = "yes";
    s->uptime_ns = UINT64_C(3723000000001);
    s->board_bytes = 10485760;
    s->scoreboard = "___RRRRRHHHHHSSSSSKKKKCCCC";
    s->apache_scoreboard = "___RRRRRWWWWWWWWWWKKKKCCCC....";
    fill_apache_counts(s);
    begin_label(&labels[0], MST_PRODUCER_APACHE, MST_LABEL_OTHER_NAME);
    begin_label(&labels[1], MST_PRODUCER_APACHE, MST_LABEL_STATUS_NAME);
    fill_busy_label(&labels[2], "www.example.com:443");
    fill_busy_label(&labels[3], HOSTILE);
    fill_apache_slots(slots);
    s->listeners_known = true;
    s->listener_count = sizeof listeners / sizeof listeners[0];
    s->listeners = listeners;
    s->label_count = sizeof labels / sizeof labels[0];
    s->labels = labels;
    s->slot_count = SLOTS;
    s->slots = slots;
}

/* ---- a PHP: no MPM, no limit, two states, three phases -------------------------------- */

static void fill_php_label(struct mst_snapshot_label *label, const char *name)
{
    begin_label(label, MST_PRODUCER_PHP, name);
    label->requests = 40;
    label->in_flight = 2;
    label->workers_limit = 5;
    label->limit_reached = 3;
    label->workers_wanted = 9;
    label->status[MST_CLASS_2XX] = 39;
    label->status[MST_CLASS_5XX] = 1;
    label->php_user_ns = 35000000000;
    label->php_system_ns = 1250000000;
    label->php_fatal = 1;
    label->php_uncached = 3;
    label->php_memory_bytes = 2097152;
    observe(&label->phases[MST_PHASE_PHP_WAIT], 40, UINT64_C(8100000000));
    observe(&label->phases[MST_PHASE_PHP_RUN], 40, UINT64_C(1000000000));
    observe(&label->phases[MST_PHASE_TOTAL], 40, UINT64_C(9100000000));
}

/* Nothing is known of an element: its words are MST_UNKNOWN, its strings NULL. */
static void forget(enum mst_scope scope, void *element, size_t bytes)
{
    size_t i;

    memset(element, 0xff, bytes);
    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].scope == scope && mst_fields[i].type == MST_TYPE_STRING)
            *(const char **)(void *)((char *)element + mst_snapshot_offset(&mst_fields[i])) = NULL;
}

/* Much of what a board can say is missing, as an older writer's would be. */
static void fill_php(struct mst_snapshot *s)
{
    static struct mst_snapshot_label labels[2];
    static struct mst_snapshot_slot slots[2];

    forget(MST_SCOPE_BOARD, s, offsetof(struct mst_snapshot, taken_ns));
    s->producer = "php";
    s->sapi = "fpm-fcgi";
    s->path = "/run/mpmstat/php/33.board";
    s->opcache = "on";
    s->opcache_used_bytes = 50331648;
    s->opcache_wasted_bytes = 0;
    s->opcache_limit_bytes = 134217728;
    s->opcache_scripts = 812;
    s->opcache_keys = 1500;
    s->opcache_keys_limit = 16229;
    s->opcache_hits = 123456;
    s->opcache_misses = 812;
    s->opcache_restarts = 1;
    s->owner = 33;
    s->pid = 77;
    s->started_ns = 0;
    s->stopped_ns = 1500000000;
    s->running = "no";
    s->workers[MST_STATE_IDLE] = 1;
    s->workers[MST_STATE_HANDLING] = 1;
    forget(MST_SCOPE_LABEL, &labels[0], sizeof labels[0]);
    labels[0].label = "";
    labels[0].requests = 2;
    memset(&labels[0].phases[MST_PHASE_TOTAL], 0, sizeof labels[0].phases[0]);
    observe(&labels[0].phases[MST_PHASE_TOTAL], 2, 1000);
    fill_php_label(&labels[1], "www");
    forget(MST_SCOPE_SLOT, &slots[0], sizeof slots[0]);
    slots[0].slot = 0;
    slots[1] = (struct mst_snapshot_slot){
        .slot = 1, .pid = 78, .state = "handling", .state_for_ns = 12500000000,
        .request_for_ns = 12500000000, .request_id = (UINT64_C(7) << 32) + 1, .requests = 3,
        .label = "www", .path = "/srv/report.php", .wait = "database",
        .wait_end = "mysql 127.0.0.1:3306", .wait_for_ns = 12300000000,
        .code_function = "Repository->find", .code_file = "/srv/src/Repository.php",
        .code_line = 88, .code_component = "/srv/src" };
    s->listeners_known = false;
    s->label_count = sizeof labels / sizeof labels[0];
    s->slot_count = 2;
    s->labels = labels;
    s->slots = slots;
}

const struct mst_snapshot *const *test_boards(void)
{
    static struct mst_snapshot apache, php;
    static const struct mst_snapshot *const boards[TEST_BOARDS] = { &apache, &php };

    memset(&apache, 0, sizeof apache);
    memset(&php, 0, sizeof php);
    fill_apache(&apache);
    fill_php(&php);
    return boards;
}

/* ---- a board in which everything is different ------------------------------------------- */

/* Fills all fields of a scope at an element with numbers from *next on. */
static void number_element(enum mst_scope scope, void *element, uint64_t *next)
{
    static char strings[64][16];
    static unsigned used;
    size_t i, k;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        void *member = (char *)element + mst_snapshot_offset(f);
        const char *const *names;
        size_t count = mst_type_elements(f->type, &names);

        if (f->scope != scope)
            continue;
        if (f->type == MST_TYPE_STRING) {
            snprintf(strings[used], sizeof strings[0], "string%u", (unsigned)(*next)++);
            *(const char **)member = strings[used++];
            continue;
        }
        for (k = 0; k < (count > 0 ? count : 1); k++)     /* of a histogram the sum */
            ((uint64_t *)member)[k] = (*next)++;
    }
}

const struct mst_snapshot *test_numbered_board(void)
{
    static struct mst_snapshot board;
    static struct mst_snapshot_listener listener;
    static struct mst_snapshot_label label;
    static struct mst_snapshot_slot slot;
    uint64_t next = 1001;
    unsigned i;

    number_element(MST_SCOPE_BOARD, &board, &next);
    number_element(MST_SCOPE_LISTENER, &listener, &next);
    number_element(MST_SCOPE_LABEL, &label, &next);
    for (i = 0; i < MST_PHASE_COUNT; i++)
        number_element(MST_SCOPE_PHASE, &label.phases[i], &next);
    number_element(MST_SCOPE_SLOT, &slot, &next);
    board.listeners_known = true;
    board.listener_count = board.label_count = board.slot_count = 1;
    board.listeners = &listener;
    board.labels = &label;
    board.slots = &slot;
    return &board;
}

/* ---- a sink into memory -------------------------------------------------------------------- */

static int keep(void *context, const void *bytes, size_t n)
{
    struct test_kept *kept = context;
    char *more = realloc(kept->text, kept->length + n + 1);

    if (more == NULL)
        abort();
    memcpy(more + kept->length, bytes, n);
    kept->text = more;
    kept->length += n;
    kept->text[kept->length] = '\0';
    return 0;
}

void test_kept_begin(struct test_kept *kept)
{
    kept->text = NULL;
    kept->length = 0;
    mst_sink_init(&kept->sink, keep, kept);
}

int test_kept_end(struct test_kept *kept)
{
    keep(kept, "", 0);
    return mst_sink_flush(&kept->sink);
}

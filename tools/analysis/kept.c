/* kept.c - requests in little memory: see kept.h. */
#include "analysis/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/names.h"

/* A number has seven bits in each byte, the lowest first; the last byte is below 128. */
#define NUMBER_MAX_BYTES 10u
/* Eleven numbers, the names, the parts. */
#define REQUEST_MAX_BYTES ((16u + MST_PART_COUNT) * NUMBER_MAX_BYTES)

enum { LABEL, HANDLER, PATH, SCRIPT, NAMES };
static const char beyond[] = "(other)";     /* a name for which mst_names has no number left */

enum { ABORTED = 1, HAS_PHP = 2, WAIT_UNKNOWN = 4 };

struct mst_kept {
    unsigned char   *bytes;
    size_t           used, room;
    struct mst_names names[NAMES];
    uint64_t         id, start_ns, php_row; /* the latest request's */
    uint64_t         parts;                 /* mst_kept_parts() */
};

struct mst_kept *mst_kept_new(void)
{
    struct mst_kept *k = calloc(1, sizeof *k);
    bool fine = k != NULL;
    size_t i;

    for (i = 0; i < NAMES && k != NULL; i++)
        fine = mst_names_begin(&k->names[i]) && fine;
    if (fine)
        return k;
    mst_kept_free(k);
    return NULL;
}

void mst_kept_free(struct mst_kept *k)
{
    size_t i;

    for (i = 0; i < NAMES && k != NULL; i++)
        mst_names_end(&k->names[i]);
    if (k != NULL)
        free(k->bytes);
    free(k);
}

void mst_kept_end(struct mst_kept *k)
{
    size_t i;

    for (i = 0; i < NAMES; i++) {
        free(k->names[i].slots);
        k->names[i].slots = NULL;
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put(struct mst_kept *k, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        k->bytes[k->used++] = (unsigned char)(number | 0x80);
    k->bytes[k->used++] = (unsigned char)number;
}

/* A number that is MST_UNKNOWN, or smaller. */
static void put_known(struct mst_kept *k, uint64_t number)
{
    put(k, number + 1);
}

/* A number that is near another: the sign of the difference is in the lowest bit. */
static void put_near(struct mst_kept *k, uint64_t other, uint64_t number)
{
    uint64_t step = number - other;

    put(k, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
}

/* As long as most requests hold a worker. */
static uint64_t usually_held_ns(const struct mst_walked *r)
{
    const uint64_t *parts_ns = r->split.parts_ns;

    return r->total_ns - parts_ns[MST_PART_QUEUE] - parts_ns[MST_PART_H2_WAIT];
}

/* 0: none; 1: beyond. */
static bool put_name(struct mst_kept *k, struct mst_names *names, const char *name)
{
    size_t number = 0;

    if (name[0] == '\0') {
        put(k, 0);
        return true;
    }
    if (!mst_names_number(names, name, &number))
        return false;
    put(k, number + 1);
    return true;
}

static void put_parts(struct mst_kept *k, const uint64_t parts_ns[MST_PART_COUNT])
{
    uint64_t has = 0;
    unsigned i;

    for (i = 0; i < MST_PART_COUNT; i++)
        has |= (uint64_t)(parts_ns[i] > 0) << i;
    k->parts |= has;
    put(k, has);
    for (i = 0; i < MST_PART_COUNT; i++)
        if (parts_ns[i] > 0)
            put(k, parts_ns[i]);
}

bool mst_kept_add(struct mst_kept *k, const struct mst_walked *r)
{
    while (k->room - k->used < REQUEST_MAX_BYTES)
        if (!mst_grow(&k->bytes, &k->room, k->room, 1))
            return false;
    put(k, (r->aborted ? ABORTED : 0) | (r->has_php ? HAS_PHP : 0) |
           (r->wait_unknown ? WAIT_UNKNOWN : 0));
    put_near(k, k->id, r->id);
    put_near(k, k->start_ns, r->start_ns);
    put_near(k, k->php_row, r->php_row);
    k->id = r->id;
    k->start_ns = r->start_ns;
    k->php_row = r->php_row;
    put_known(k, r->status);
    put_known(k, r->worker);
    put(k, r->split.send_run_ns);
    put_parts(k, r->split.parts_ns);
    put_near(k, usually_held_ns(r), r->held_ns);
    put_known(k, r->front_ns);
    return put_name(k, &k->names[LABEL], r->label) && put_name(k, &k->names[HANDLER], r->handler) &&
           put_name(k, &k->names[PATH], r->path) && put_name(k, &k->names[SCRIPT], r->script);
}

uint64_t mst_kept_parts(const struct mst_kept *k)
{
    return k->parts;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct cursor { const unsigned char *at; };

static uint64_t get(struct cursor *c)
{
    uint64_t number = *c->at & 0x7f;
    unsigned shift = 7;

    for (; *c->at >= 0x80; shift += 7)
        number |= (uint64_t)(*++c->at & 0x7f) << shift;
    c->at++;
    return number;
}

static uint64_t get_known(struct cursor *c)
{
    return get(c) - 1;
}

static uint64_t get_near(struct cursor *c, uint64_t other)
{
    uint64_t step = get(c);

    return other + (step >> 1 ^ (step & 1 ? UINT64_MAX : 0));
}

static const char *get_name(struct cursor *c, const struct mst_names *names)
{
    uint64_t number = get(c);

    return number == 0 ? "" : number == 1 ? beyond : names->items[number - 1];
}

static void get_parts(struct cursor *c, struct mst_walked *r)
{
    uint64_t has = get(c), within_ns[MST_WITHIN_SEND + 1] = { 0 };
    unsigned i;

    r->total_ns = 0;
    for (i = 0; i < MST_PART_COUNT; i++) {
        r->split.parts_ns[i] = has >> i & 1 ? get(c) : 0;
        r->total_ns += r->split.parts_ns[i];
        within_ns[mst_parts[i].within] += r->split.parts_ns[i];
    }
    r->queue_ns = within_ns[MST_WITHIN_QUEUE];
    r->read_ns = within_ns[MST_WITHIN_READ];
    r->split.handle_run_ns = within_ns[MST_WITHIN_PHP_RUN] - r->split.send_run_ns;
    r->handle_ns = within_ns[MST_WITHIN_HANDLE] + r->split.handle_run_ns;
    r->send_ns = within_ns[MST_WITHIN_SEND] + r->split.send_run_ns;
}

bool mst_kept_walk(const struct mst_kept *k, mst_walk_each *each, void *context)
{
    struct cursor c = { .at = k != NULL ? k->bytes : NULL };
    struct mst_walked r = { 0 };
    uint64_t flags;

    while (k != NULL && c.at < k->bytes + k->used) {
        flags = get(&c);
        r.aborted = flags & ABORTED;
        r.has_php = flags & HAS_PHP;
        r.wait_unknown = flags & WAIT_UNKNOWN;
        r.id = get_near(&c, r.id);
        r.start_ns = get_near(&c, r.start_ns);
        r.php_row = get_near(&c, r.php_row);
        r.status = get_known(&c);
        r.worker = get_known(&c);
        r.split.send_run_ns = get(&c);
        get_parts(&c, &r);
        r.held_ns = get_near(&c, usually_held_ns(&r));
        r.front_ns = get_known(&c);
        r.label = get_name(&c, &k->names[LABEL]);
        r.handler = get_name(&c, &k->names[HANDLER]);
        r.path = get_name(&c, &k->names[PATH]);
        r.script = get_name(&c, &k->names[SCRIPT]);
        if (!each(context, &r))
            return false;
    }
    return true;
}

/* live.c - the line on a terminal while a run is recorded: see live.h. */
#include "record/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ratio.h"
#include "console/diag.h"
#include "console/format.h"
#include "segment/format.h"

#define DRAW_NS      (300 * MST_NS_PER_MS)
#define RATE_NS      MST_NS_PER_S   /* the rate is of this time or longer */
#define FULL_NS      MST_NS_PER_S   /* workers that are all busy for less are not a finding */
#define FULL_GAP_NS  MST_NS_PER_S   /* so long after the last look that saw it they are not */
#define FINDING_MAX  96u
#define GAP          2u             /* columns between two fields */

/* ---- what was seen ------------------------------------------------------------------------ */

static void add_known(uint64_t *sum, uint64_t n)
{
    *sum = *sum == MST_UNKNOWN || n == MST_UNKNOWN ? MST_UNKNOWN : *sum + n;
}

static void add_sample(struct mst_live_look *look, struct mst_live_side *side,
                       const struct mst_sample *sample)
{
    side->exists = true;
    add_known(&side->requests, sample->requests);
    add_known(&side->errors, sample->classes[MST_CLASS_5XX]);
    add_known(&side->busy, sample->workers_busy);
    add_known(&side->limit, sample->workers_limit);
    if (sample->listen_queue == MST_UNKNOWN || sample->listen_queue_limit == MST_UNKNOWN)
        return;
    if (look->queue == MST_UNKNOWN || (unsigned __int128)sample->listen_queue * look->queue_limit >
                                      (unsigned __int128)look->queue * sample->listen_queue_limit) {
        look->queue = sample->listen_queue;
        look->queue_limit = sample->listen_queue_limit;
    }
}

struct mst_live_look mst_live_look_at(const struct mst_sampler *samplers, size_t count,
                                      uint64_t now_ns)
{
    struct mst_live_look look = { .at_ns = now_ns, .all_answer = true, .queue = MST_UNKNOWN,
                                  .queue_limit = MST_UNKNOWN };
    size_t i;

    for (i = 0; i < count; i++) {
        bool is_php = mst_source_identity(samplers[i].source)->producer == MST_PRODUCER_PHP;

        add_sample(&look, is_php ? &look.php : &look.apache, &samplers[i].sample);
        look.all_answer = look.all_answer && samplers[i].sampled;
    }
    return look;
}

/* The servers that the load is for. */
static const struct mst_live_side *front_of(const struct mst_live_look *look)
{
    return look->apache.exists ? &look->apache : &look->php;
}

/* After a new start a server counts from 0. */
static uint64_t growth(uint64_t before, uint64_t after)
{
    if (before == MST_UNKNOWN || after == MST_UNKNOWN)
        return 0;
    return after >= before ? after - before : after;
}

static bool is_full(const struct mst_live_side *side)
{
    return side->exists && side->busy != MST_UNKNOWN && side->limit != MST_UNKNOWN &&
           side->limit > 0 && side->busy >= side->limit;
}

static void note_full(struct mst_live_full *full, const struct mst_live_side *side,
                      uint64_t now_ns)
{
    if (is_full(side)) {
        full->since_ns = full->since_ns != 0 ? full->since_ns : now_ns;
        full->last_ns = now_ns;
    } else if (side->limit == MST_UNKNOWN || now_ns - full->last_ns >= FULL_GAP_NS) {
        full->since_ns = 0;
    }
}

void mst_live_begin(struct mst_live *live, const char *lead, const struct mst_live_look *look)
{
    *live = (struct mst_live){ .lead = lead, .began_ns = look->at_ns, .look = *look };
    live->now.at_ns = live->marks[0].at_ns = live->marks[1].at_ns = look->at_ns;
}

void mst_live_see(struct mst_live *live, const struct mst_live_look *look)
{
    const struct mst_live_side *before = front_of(&live->look), *after = front_of(look);

    live->now.at_ns = look->at_ns;
    live->now.requests += growth(before->requests, after->requests);
    live->now.errors += growth(before->errors, after->errors);
    if (look->at_ns - live->marks[1].at_ns >= RATE_NS) {
        live->marks[0] = live->marks[1];
        live->marks[1] = live->now;
    }
    note_full(&live->apache_full, &look->apache, look->at_ns);
    note_full(&live->php_full, &look->php, look->at_ns);
    live->look = *look;
}

/* ---- the line ----------------------------------------------------------------------------- */

/* For how long all workers have been busy; 0 where they are not. */
static uint64_t full_ns(const struct mst_live_full *full, uint64_t now_ns)
{
    return full->since_ns != 0 ? now_ns - full->since_ns : 0;
}

/* What is plain from the samples, the cause before what follows from it; "" nothing is. */
static void compose_finding(const struct mst_live *live, char text[FINDING_MAX])
{
    const struct mst_live_look *look = &live->look;
    uint64_t errors = live->now.errors - live->marks[0].errors;
    uint64_t requests = live->now.requests - live->marks[0].requests;
    uint64_t apache_ns = full_ns(&live->apache_full, look->at_ns);
    uint64_t php_ns = full_ns(&live->php_full, look->at_ns);

    text[0] = '\0';
    if (!look->all_answer)
        snprintf(text, FINDING_MAX, "a server does not answer");
    else if (errors > 0 && 2 * errors > requests)
        snprintf(text, FINDING_MAX, "most answers are errors");
    else if (look->queue != MST_UNKNOWN && look->queue_limit != MST_UNKNOWN &&
             look->queue_limit > 0 && look->queue >= look->queue_limit)
        snprintf(text, FINDING_MAX, "accept queue full");
    else if (php_ns >= FULL_NS)
        snprintf(text, FINDING_MAX, "all %" PRIu64 " PHP workers busy for %" PRIu64 " s",
                 look->php.limit, php_ns / MST_NS_PER_S);
    else if (apache_ns >= FULL_NS)
        snprintf(text, FINDING_MAX, "all %" PRIu64 " workers busy for %" PRIu64 " s",
                 look->apache.limit, apache_ns / MST_NS_PER_S);
}

/* A line that is put together of fields. */
struct line { char *text; size_t used, room; bool is_full; };

/* Adds a field where it fits; behind one that does not fit there is none. */
static void add_field(struct line *line, const char *field)
{
    size_t length = strlen(field), gap = line->used > 0 ? GAP : 0;

    line->is_full = line->is_full || line->used + gap + length > line->room;
    if (length == 0 || line->is_full)
        return;
    memset(line->text + line->used, ' ', gap);
    memcpy(line->text + line->used + gap, field, length + 1);
    line->used += gap + length;
}

/* "0:12", "1:02:03". */
static void add_elapsed(struct line *line, uint64_t ns)
{
    uint64_t s = ns / MST_NS_PER_S;
    char field[32];

    if (s < 3600)
        snprintf(field, sizeof field, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(field, sizeof field, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600,
                 s / 60 % 60, s % 60);
    add_field(line, field);
}

static void add_count(struct line *line, uint64_t n, const char *one, const char *many)
{
    char field[48];

    snprintf(field, sizeof field, "%" PRIu64 " %s", n, n == 1 ? one : many);
    add_field(line, field);
}

static void add_rate(struct line *line, const struct mst_live *live)
{
    const struct mst_live_mark *from = &live->marks[0];
    uint64_t time_ns = live->now.at_ns - from->at_ns;
    char field[48];

    if (time_ns == 0)
        return;
    snprintf(field, sizeof field, "%s/s",
             mst_format_milli(mst_rate_milli(live->now.requests - from->requests, time_ns)).text);
    add_field(line, field);
}

/* "Apache 12/150"; "queue 3" where no limit is known. */
static void add_part(struct line *line, const char *name, uint64_t part, uint64_t limit)
{
    char field[80];

    if (part == MST_UNKNOWN)
        return;
    snprintf(field, sizeof field, "%s %" PRIu64 "%s%s", name, part,
             limit != MST_UNKNOWN ? "/" : "",
             limit != MST_UNKNOWN ? mst_format_count(limit).text : "");
    add_field(line, field);
}

void mst_live_text(const struct mst_live *live, size_t width, char *text, size_t size)
{
    const struct mst_live_look *look = &live->look;
    size_t room = width < size ? width : size - 1, reserved;
    struct line line = { .text = text };
    char finding[FINDING_MAX];

    compose_finding(live, finding);
    reserved = finding[0] != '\0' && strlen(finding) <= room ? strlen(finding) + GAP : 0;
    line.room = reserved < room ? room - reserved : 0;
    text[0] = '\0';
    add_field(&line, live->lead);
    add_elapsed(&line, look->at_ns - live->began_ns);
    add_count(&line, live->now.requests, "request", "requests");
    add_rate(&line, live);
    if (look->apache.exists)
        add_part(&line, "Apache", look->apache.busy, look->apache.limit);
    if (look->php.exists)
        add_part(&line, "PHP", look->php.busy, look->php.limit);
    add_count(&line, live->now.errors, "error", "errors");
    add_part(&line, "queue", look->queue, look->queue_limit);
    line.room = room;
    line.is_full = false;
    add_field(&line, finding);
}

void mst_live_draw(struct mst_live *live)
{
    char text[256];

    if (live->look.at_ns - live->drawn_ns < DRAW_NS)
        return;
    live->drawn_ns = live->look.at_ns;
    mst_live_text(live, mst_status_room(), text, sizeof text);
    mst_status_line(text);
}

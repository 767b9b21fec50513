/* board_source.c - a source over a board file: see source.h.
 *
 * The journal is followed through a reader of its own, so that a new start of
 * the server, which puts another file at the path, does not cut off what the
 * old one wrote last. Samples go through the target's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/host.h"
#include "read/call_place.h"
#include "read/tail.h"
#include "segment/liveness.h"
#include "source/source_kind.h"

/* The journals of a kind of server: lifecycle events first, for a process is there
 * before its requests. */
#define RINGS_MAX 4u
struct ring {
    enum mst_section_id section;
    mst_take           *take;
};

struct file_source {
    struct mst_source base;
    bool              is_open;      /* the journal's reader and tails */
    struct mst_reader journal;
    size_t            tail_count;
    struct mst_tail   tails[RINGS_MAX];
    uint64_t          lost_before;  /* on boards that were followed before this one */
    char              labels[MST_LABELS_MAX][MST_NAME_MAX];   /* empty: not read yet */
    char              ends[MST_LABELS_MAX][MST_NAME_MAX];
    char              paths[MST_PATHS_MAX][MST_PATH_NAME_MAX];
    bool              knows_frame[MST_FRAMES_MAX];   /* it was given */
    bool              knows_stack[MST_STACKS_MAX];
    uint64_t          named[MST_STACKS_MAX];   /* of a stack that was given: the id of the frame
                                                * that is named (call_place.h); 0: none */

    const struct mst_source_events *events;   /* during a poll */
    bool              stopped;
};

/* ---- identity --------------------------------------------------------------- */

/* Whether its server's CLOCK_MONOTONIC is ours: the same boot, the same time namespace. */
static bool shares_clock(const struct mst_header *h)
{
    char boot_id[sizeof h->boot_id];

    mst_host_boot_id(boot_id, sizeof boot_id);
    return boot_id[0] != '\0' && strncmp(boot_id, h->boot_id, sizeof boot_id) == 0 &&
           (h->time_namespace == 0 || h->time_namespace == mst_host_namespace("time"));
}

static void identify(struct mst_source *s, const struct mst_reader *reader)
{
    const struct mst_header *h = &reader->header;
    struct mst_source_identity *id = &s->identity;

    memset(id, 0, sizeof *id);
    id->producer = (enum mst_producer)h->producer;
    snprintf(id->server, sizeof id->server, "%.*s", (int)sizeof h->server, h->server);
    snprintf(id->version, sizeof id->version, "%.*s", (int)sizeof h->version_text - 1,
             h->version_text);
    snprintf(id->mpm, sizeof id->mpm, "%.*s", (int)sizeof h->mpm - 1, h->mpm);
    snprintf(id->sapi, sizeof id->sapi, "%.*s", (int)sizeof h->sapi - 1, h->sapi);
    snprintf(id->settings, sizeof id->settings, "%.*s", (int)sizeof h->settings - 1, h->settings);
    snprintf(id->board, sizeof id->board, "%s", s->target->name);
    id->pid = h->pid;
    id->started_wall_ns = h->started_ns + (uint64_t)h->realtime_offset_ns;
    s->same_clock = shares_clock(h);
    id->clock_offset_ns = s->same_clock ? s->clock_offset_ns : (uint64_t)h->realtime_offset_ns;
    mst_source_take_board(s, reader);
}

/* ---- the journal -------------------------------------------------------------- */

/* The names that were read of a table: of each entry a text of `size` bytes. */
struct known_names { enum mst_section_id table; char *texts; size_t size, room; };

/* Reads a name where it is not known yet: names are only ever added. NULL: there is none. */
static const char *find_name(struct file_source *f, struct known_names known, uint64_t index)
{
    const struct mst_section *section = mst_section_in(&f->journal.header, known.table);
    struct { uint64_t used; char name[MST_PATH_NAME_MAX]; } entry;   /* as all entries begin */
    char *name, error[MST_ERROR_MAX];

    if (index >= section->count || index >= known.room)
        return NULL;
    name = known.texts + index * known.size;
    if (name[0] == '\0' &&
        mst_reader_read(&f->journal, section->offset + index * section->stride, &entry,
                        sizeof entry.used + known.size, error) == 0 &&
        entry.used == 1)
        snprintf(name, known.size, "%.*s", (int)known.size - 1, entry.name);
    return name[0] != '\0' ? name : NULL;
}

static struct mst_record_names find_names(struct file_source *f, uint64_t label,
                                          const uint64_t ends[MST_RECORD_ENDS], uint64_t path)
{
    const struct known_names labels = { MST_SECTION_LABELS, f->labels[0], sizeof f->labels[0],
                                        MST_LABELS_MAX };
    const struct known_names other_ends = { MST_SECTION_ENDS, f->ends[0], sizeof f->ends[0],
                                            MST_LABELS_MAX };
    const struct known_names paths = { MST_SECTION_PATHS, f->paths[0], sizeof f->paths[0],
                                       MST_PATHS_MAX };
    struct mst_record_names names = { .label = NULL };
    size_t i;

    names.label = find_name(f, labels, label);
    if (names.label == NULL)
        names.label = MST_LABEL_OTHER_NAME;
    for (i = 0; i < MST_RECORD_ENDS; i++)
        names.ends[i] = find_name(f, other_ends, ends[i]);
    names.path = find_name(f, paths, path);
    return names;
}

/* What a taker returns: whether the poll ends here. */
static int is_enough(struct file_source *f)
{
    if (!f->stopped)
        f->base.cut = mst_source_is_over(&f->base);
    return f->stopped || f->base.cut;
}

/* What the wall clock was when the board was made counts only where we cannot do better. */
static uint64_t wall_ns(const struct file_source *f, uint64_t monotonic_ns)
{
    if (f->base.same_clock)
        return mst_source_wall_ns(&f->base, monotonic_ns);
    return monotonic_ns + (uint64_t)f->journal.header.realtime_offset_ns;
}

static int take_request(void *context, uint64_t ticket, const void *payload)
{
    struct file_source *f = context;
    const struct mst_request *r = payload;
    struct mst_record_names names;
    uint64_t ends[MST_RECORD_ENDS];

    mst_request_ends(r, ends);
    names = find_names(f, r->label_status >> 32, ends, mst_request_path(r));
    if (f->events->on_request != NULL &&
        f->events->on_request(f->events->context, r, &names, wall_ns(f, r->start_ns),
                              mst_source_key(f->base.restarts, ticket)) != 0)
        f->stopped = true;
    return is_enough(f);
}

static int take_lifecycle(void *context, uint64_t ticket, const void *payload)
{
    struct file_source *f = context;
    const struct mst_lifecycle *e = payload;

    if (f->events->on_lifecycle != NULL &&
        f->events->on_lifecycle(f->events->context, e, wall_ns(f, e->time_ns),
                                mst_source_key(f->base.restarts, ticket)) != 0)
        f->stopped = true;
    return is_enough(f);
}

static int take_mark(void *context, uint64_t ticket, const void *payload)
{
    struct file_source *f = context;
    struct mst_mark m = *(const struct mst_mark *)payload;

    m.name[sizeof m.name - 1] = '\0';
    if (f->events->on_mark != NULL &&
        f->events->on_mark(f->events->context, &m, wall_ns(f, m.time_ns),
                           wall_ns(f, m.request_start_ns),
                           mst_source_key(f->base.restarts, ticket)) != 0)
        f->stopped = true;
    return is_enough(f);
}

static int take_delivery(void *context, uint64_t ticket, const void *payload)
{
    struct file_source *f = context;

    if (f->events->on_delivery != NULL &&
        f->events->on_delivery(f->events->context, payload,
                               mst_source_key(f->base.restarts, ticket)) != 0)
        f->stopped = true;
    return is_enough(f);
}

/* ---- PHP's code ----------------------------------------------------------------------------- */

static uint64_t code_id(const struct file_source *f, uint64_t index)
{
    return (f->base.restarts << MST_SOURCE_CODE_BITS) + index + 1;
}

/* Gives a frame where it was not given yet. */
static void give_frame(struct file_source *f, uint64_t index)
{
    const struct mst_section *section = mst_section_in(&f->journal.header, MST_SECTION_FRAMES);
    struct mst_frame frame = { 0 };
    char ignored[MST_ERROR_MAX];

    if (index >= section->count || index >= MST_FRAMES_MAX || f->knows_frame[index] ||
        mst_reader_entries(&f->journal, MST_SECTION_FRAMES, index, 1, &frame, sizeof frame,
                           ignored) != 0 ||
        frame.used != 1)
        return;
    frame.function[sizeof frame.function - 1] = frame.file[sizeof frame.file - 1] = '\0';
    f->knows_frame[index] = true;
    if (f->events->on_frame != NULL &&
        f->events->on_frame(f->events->context, code_id(f, index), &frame) != 0)
        f->stopped = true;
}

/* 0: none. */
static uint64_t named_frame(const struct file_source *f, uint64_t stack)
{
    struct mst_frame frame;
    uint64_t index;

    return mst_call_place(&f->journal, stack, &index, &frame) ? code_id(f, index) : 0;
}

/* Gives a stack and its callers where they were not given yet. A worker can have written a stack
 * that calls itself: what was given ends the way. */
static void give_stack(struct file_source *f, uint64_t index)
{
    const struct mst_section *section = mst_section_in(&f->journal.header, MST_SECTION_STACKS);
    struct mst_call_stack stack;
    char ignored[MST_ERROR_MAX];
    uint64_t caller, frame;

    while (index != MST_STACK_NONE && index < section->count && index < MST_STACKS_MAX &&
           !f->knows_stack[index] && !f->stopped) {
        f->knows_stack[index] = true;
        f->named[index] = named_frame(f, index);
        if (mst_reader_entries(&f->journal, MST_SECTION_STACKS, index, 1, &stack, sizeof stack,
                               ignored) != 0 ||
            (stack.caller_frame & UINT32_MAX) == 0)
            return;
        caller = stack.caller_frame >> 32;
        frame = (stack.caller_frame & UINT32_MAX) - 1;
        give_frame(f, frame);
        if (f->events->on_stack != NULL &&
            f->events->on_stack(f->events->context, code_id(f, index),
                                caller != MST_STACK_NONE ? code_id(f, caller) : 0,
                                code_id(f, frame)) != 0)
            f->stopped = true;
        index = caller;
    }
}

/* Gives the stacks from which a request waited. */
static void find_places(struct file_source *f, const struct mst_php_request *r,
                        struct mst_record_names *names)
{
    uint64_t stack;
    size_t i;

    for (i = 0; i < MST_RECORD_ENDS && f->events->on_frame != NULL; i++) {
        stack = r->places[i].stack_calls >> 32;
        if ((uint32_t)r->places[i].stack_calls == 0 || stack >= MST_STACKS_MAX)
            continue;
        give_stack(f, stack);
        if (f->knows_stack[stack])
            names->places[i] = (struct mst_record_place){ code_id(f, stack), f->named[stack] };
    }
}

static int take_php_request(void *context, uint64_t ticket, const void *payload)
{
    struct file_source *f = context;
    struct mst_php_request r = *(const struct mst_php_request *)payload;
    struct mst_record_names names;
    uint64_t ends[MST_RECORD_ENDS];

    r.script[sizeof r.script - 1] = '\0';
    mst_php_request_ends(&r, ends);
    names = find_names(f, r.label_status >> 32, ends, MST_UNKNOWN);
    find_places(f, &r, &names);
    if (f->events->on_php_request != NULL &&
        f->events->on_php_request(f->events->context, &r, &names, wall_ns(f, r.start_ns),
                                  mst_source_key(f->base.restarts, ticket)) != 0)
        f->stopped = true;
    return is_enough(f);
}

static int take_code_sample(void *context, uint64_t ticket, const void *payload)
{
    struct file_source *f = context;
    const struct mst_code_sample *s = payload;
    uint64_t stack = s->stack_what >> 32;

    if (f->events->on_code_sample == NULL)
        return is_enough(f);
    give_stack(f, stack);
    if (!f->stopped &&
        f->events->on_code_sample(f->events->context, s, code_id(f, stack),
                                  wall_ns(f, s->time_ns), wall_ns(f, s->request_start_ns),
                                  mst_source_key(f->base.restarts, ticket)) != 0)
        f->stopped = true;
    return is_enough(f);
}

static void forget_code(struct mst_source *s)
{
    struct file_source *f = (struct file_source *)s;

    memset(f->knows_frame, 0, sizeof f->knows_frame);
    memset(f->knows_stack, 0, sizeof f->knows_stack);
}

/* Older servers' boards lack the last of each. */
static const struct ring apache_rings[RINGS_MAX] = {
    { MST_SECTION_LIFECYCLE, take_lifecycle }, { MST_SECTION_REQUESTS, take_request },
    { MST_SECTION_DELIVERIES, take_delivery }, { MST_SECTION_CODE_SAMPLES, take_code_sample },
};
static const struct ring php_rings[RINGS_MAX] = {
    { MST_SECTION_LIFECYCLE, take_lifecycle }, { MST_SECTION_PHP_REQUESTS, take_php_request },
    { MST_SECTION_MARKS, take_mark }, { MST_SECTION_CODE_SAMPLES, take_code_sample },
};

static const struct ring *rings_of(const struct file_source *f, size_t *count)
{
    const struct ring *rings = f->journal.header.producer == MST_PRODUCER_PHP ? php_rings
                                                                              : apache_rings;

    *count = RINGS_MAX;
    while (mst_section_in(&f->journal.header, rings[*count - 1].section)->count == 0 && *count > 2)
        --*count;
    return rings;
}

static uint64_t lost_by_tails(const struct file_source *f)
{
    uint64_t lost = 0;
    size_t i;

    for (i = 0; i < f->tail_count; i++)
        lost += f->tails[i].lost;
    return lost;
}

static void finish_tails(struct file_source *f)
{
    size_t i;

    for (i = 0; i < f->tail_count; i++)
        mst_tail_finish(&f->tails[i]);
}

static void stop_following(struct file_source *f)
{
    if (!f->is_open)
        return;
    finish_tails(f);
    f->lost_before += lost_by_tails(f);
    while (f->tail_count > 0)
        mst_tail_close(&f->tails[--f->tail_count]);
    mst_reader_close(&f->journal);
    f->is_open = false;
}

static int open_tails(struct file_source *f, bool from_head, char error[MST_ERROR_MAX])
{
    size_t count;
    const struct ring *rings = rings_of(f, &count);

    for (f->tail_count = 0; f->tail_count < count; f->tail_count++) {
        enum mst_section_id section = rings[f->tail_count].section;
        uint64_t next = 1;

        if ((from_head && mst_journal_head(&f->journal, section, &next, error) != 0) ||
            mst_tail_open(&f->tails[f->tail_count], &f->journal, section, next, error) != 0)
            return -1;
    }
    return 0;
}

/* Opens the journal of the board that is at the path now, from its head, or
 * from its beginning. */
static int follow(struct file_source *f, bool from_head, char error[MST_ERROR_MAX])
{
    if (mst_target_reader(f->base.target, &f->journal, error) != 0)
        return -1;
    memset(f->labels, 0, sizeof f->labels);
    memset(f->ends, 0, sizeof f->ends);
    memset(f->paths, 0, sizeof f->paths);
    forget_code(&f->base);
    if (open_tails(f, from_head, error) == 0) {
        f->is_open = true;
        return 0;
    }
    while (f->tail_count > 0)
        mst_tail_close(&f->tails[--f->tail_count]);
    mst_reader_close(&f->journal);
    return -1;
}

static int mark_journal(struct mst_source *s, bool from_head, char error[MST_ERROR_MAX])
{
    struct file_source *f = (struct file_source *)s;

    stop_following(f);
    f->lost_before = 0;
    return follow(f, from_head, error);
}

/* Whether the board has records that the tails have not come to. */
static bool has_more(const struct file_source *f)
{
    char ignored[MST_ERROR_MAX];
    uint64_t upcoming;
    size_t i;

    for (i = 0; i < f->tail_count; i++)
        if (mst_journal_head(&f->journal, f->tails[i].section, &upcoming, ignored) == 0 &&
            f->tails[i].next < upcoming)
            return true;
    return false;
}

/* Everything that the followed board has. */
static long drain(struct file_source *f, char error[MST_ERROR_MAX])
{
    size_t i, count;
    const struct ring *rings = rings_of(f, &count);
    long given = 0, n;

    for (i = 0; i < count; i++) {
        n = mst_tail_poll(&f->tails[i], SIZE_MAX, rings[i].take, f, error);
        if (f->stopped)
            error[0] = '\0';
        if (n < 0 || f->stopped)
            return -1;
        given += n;
        f->base.cut = f->base.cut && has_more(f);
        if (f->base.cut)
            break;
    }
    return given;
}

static bool was_replaced(const struct file_source *f)
{
    struct stat st;

    return stat(f->base.target->name, &st) == 0 &&
           (st.st_dev != f->journal.device || st.st_ino != f->journal.inode);
}

/* Everything that the board has which is at the path now. */
static long drain_new(struct file_source *f, char error[MST_ERROR_MAX])
{
    if (follow(f, false, error) != 0)
        return -1;
    identify(&f->base, &f->journal);
    return drain(f, error);
}

/* The old board's last records, then the new board's first. */
static long drain_both(struct file_source *f, char error[MST_ERROR_MAX])
{
    long last, first;

    last = drain(f, error);
    if (last < 0 || f->base.cut)
        return last;
    stop_following(f);
    f->base.restarts++;
    first = drain_new(f, error);
    return first < 0 ? -1 : last + first;
}

static long poll_journal(struct mst_source *s, const struct mst_source_events *events,
                         char error[MST_ERROR_MAX])
{
    struct file_source *f = (struct file_source *)s;
    long given;
    size_t i;

    f->events = events;
    f->stopped = false;
    /* Not open: the new board could not be opened when it was first seen. */
    if (!f->is_open)
        given = drain_new(f, error);
    else if (was_replaced(f))
        given = drain_both(f, error);
    else
        given = drain(f, error);
    f->events = NULL;
    s->lost = f->lost_before + lost_by_tails(f);
    s->pending = s->cut;
    for (i = 0; i < f->tail_count; i++)
        s->pending = s->pending || f->tails[i].gap_count > 0;
    return given;
}

static void finish_journal(struct mst_source *s)
{
    struct file_source *f = (struct file_source *)s;

    finish_tails(f);
    s->lost = f->lost_before + lost_by_tails(f);
}

/* ---- samples ------------------------------------------------------------------ */

static int add_processes(struct mst_sample *sample, const struct mst_copy *copy)
{
    size_t i;

    for (i = 0; i < copy->process_count; i++) {
        const struct mst_process *p = &copy->processes[i];

        if (mst_entry_is_claimed(p) &&
            mst_sample_add_process(sample, p->pid, p->start_ticks) != 0)
            return -1;
    }
    mst_sample_unite_processes(sample);
    return 0;
}

static int take_sample(struct mst_source *s, struct mst_sample *sample, char error[MST_ERROR_MAX])
{
    struct mst_snapshot snapshot;
    struct mst_copy copy;
    int changed, result;

    changed = mst_target_snapshot(s->target, &snapshot, &copy, error);
    if (changed < 0)
        return -1;
    if (changed > 0)
        identify(s, &s->target->reader);
    mst_source_show(s, &snapshot);
    mst_sample_from_snapshot(sample, &snapshot);
    sample->wall_ns = mst_source_wall_ns(s, snapshot.taken_ns);
    result = add_processes(sample, &copy);
    if (result != 0)
        snprintf(error, MST_ERROR_MAX, "out of memory");
    mst_snapshot_free(&snapshot);
    mst_copy_free(&copy);
    return result;
}

/* ---- open and close -------------------------------------------------------------- */

static void close_file(struct mst_source *s)
{
    stop_following((struct file_source *)s);
    free(s);
}

static const struct mst_source_kind file_kind = {
    .close = close_file, .mark = mark_journal, .forget_code = forget_code,
     .poll = poll_journal, .finish = finish_journal,
    .sample = take_sample,
};

struct mst_source *mst_source_open_file(struct mst_target *target, char error[MST_ERROR_MAX])
{
    struct file_source *f;

    if (mst_target_open(target, error) < 0)
        return NULL;
    f = calloc(1, sizeof *f);
    if (f == NULL) {
        snprintf(error, MST_ERROR_MAX, "out of memory");
        return NULL;
    }
    f->base.kind = &file_kind;
    f->base.deadline_ns = UINT64_MAX;
    f->base.target = target;
    identify(&f->base, &target->reader);
    return &f->base;
}

/* copy.c - copies an open board into private memory: see copy.h.
 *
 * Used by every reader: the module's handler, the tool, the tests. No more memory is asked for
 * than the file takes up.
 */
#include "read/copy.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/saturate.h"
#include "segment/listen_hash.h"

#define HISTOGRAM_WORDS (sizeof(struct mst_histogram) / sizeof(uint64_t))

static void take_over(struct mst_header *to, const struct mst_header *from, size_t begin,
                      size_t end)
{
    memcpy((char *)to + begin, (const char *)from + begin, end - begin);
}

/* Reads the header again. The words that may change are taken over; the others must be as they
 * were when they were checked. */
static int copy_header(struct mst_copy *c, char error[MST_ERROR_MAX])
{
    const struct mst_reader *r = c->reader;
    struct mst_header now;

    memset(&now, 0, sizeof now);
    c->header = r->header;
    if (mst_reader_read(r, 0, &now, mst_header_bytes(&r->header), error) != 0)
        return -1;
    if (memcmp(&now, &r->header, offsetof(struct mst_header, producer)) != 0
        || memcmp(now.section, r->header.section, sizeof now.section) != 0
        || memcmp(now.more, r->header.more, sizeof now.more) != 0)
        return mst_fail(error, "the board %s was overwritten while it was being read: expected "
                        "the header it had when it was opened, found another; open it again",
                        r->path);
    take_over(&c->header, &now, offsetof(struct mst_header, server),
              offsetof(struct mst_header, section));
    take_over(&c->header, &now, offsetof(struct mst_header, requests_written), MST_HEADER_MIN);
    take_over(&c->header, &now, offsetof(struct mst_header, deliveries_written), sizeof now);
    mst_header_terminate(&c->header);
    return 0;
}

static int copy_array(struct mst_copy *c, enum mst_section_id id, size_t count, size_t size,
                      void *array, char error[MST_ERROR_MAX])
{
    void *memory = mst_zalloc(count, size);

    if (memory == NULL)
        return mst_fail(error, "out of memory while copying the board %s", c->reader->path);
    memcpy(array, &memory, sizeof memory);
    return mst_reader_entries(c->reader, id, 0, count, memory, size, error);
}

/* Names are given out in order. One whose maker was killed midway stays unused. */
static int copy_names(struct mst_copy *c, enum mst_section_id id, struct mst_name **names,
                      size_t *used, char error[MST_ERROR_MAX])
{
    size_t count = mst_section_in(&c->header, id)->count, i;

    if (copy_array(c, id, count, sizeof **names, names, error) != 0)
        return -1;
    for (i = 0; i < count; i++) {
        struct mst_name *n = &(*names)[i];

        n->used = n->used == 1;
        n->name[MST_NAME_MAX - 1] = '\0';
        if (n->used)
            *used = i + 1;
    }
    return 0;
}

static bool was_ever_claimed(const struct mst_process *p)
{
    return p->pid != 0 || p->serial != 0 || p->accepted != 0;
}

/* Leaves out the entries behind the last one that was ever claimed, and their workers: entries
 * are claimed from the first on, and often most were never used. */
static int copy_processes(struct mst_copy *c, char error[MST_ERROR_MAX])
{
    size_t count = c->header.section[MST_SECTION_PROCESSES].count;

    if (copy_array(c, MST_SECTION_PROCESSES, count, sizeof *c->processes, &c->processes,
                   error) != 0)
        return -1;
    while (count > 0 && !was_ever_claimed(&c->processes[count - 1]))
        count--;
    c->process_count = count;
    c->worker_count = count * c->header.threads_per_process;
    return 0;
}

static int copy_workers(struct mst_copy *c, char error[MST_ERROR_MAX])
{
    size_t i;

    if (copy_array(c, MST_SECTION_WORKERS, c->worker_count, sizeof *c->workers, &c->workers,
                   error) != 0)
        return -1;
    for (i = 0; i < c->worker_count; i++)
        c->workers[i].path[MST_PATH_MAX - 1] = '\0';
    return 0;
}

static int copy_totals(struct mst_copy *c, char error[MST_ERROR_MAX])
{
    const struct mst_reader *r = c->reader;
    uint64_t offset = r->header.section[MST_SECTION_TOTALS].offset;
    size_t i;

    memset(&c->totals, 0xff, sizeof c->totals);   /* MST_UNKNOWN */
    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];

        if (f->storage == MST_STORAGE_TOTAL && r->stored_words[i] > 0
            && mst_reader_read(r, offset + r->stored_offset[i],
                               (char *)&c->totals + f->stored_offset,
                               r->stored_words[i] * sizeof(uint64_t), error) != 0)
            return -1;
    }
    return 0;
}

/* Counters of one storage, which the board has `stripes` times for each name. */
struct striped {
    enum mst_storage    storage;
    enum mst_section_id section;
    size_t              bytes;    /* size of the struct that the stripes are added into */
};

static void add_words(const struct mst_field *f, uint64_t *into, const uint64_t *from, size_t words)
{
    size_t i;

    for (i = 0; i < words; i++) {
        if (f->nature != MST_NATURE_MAX)
            into[i] = mst_add_saturated(into[i], from[i]);
        else if (from[i] > into[i])
            into[i] = from[i];
    }
}

static void add_histograms(void *into, const void *from, size_t words)
{
    size_t i;

    for (i = 0; i < words / HISTOGRAM_WORDS; i++)
        mst_histogram_add((struct mst_histogram *)into + i, (const struct mst_histogram *)from + i);
}

/* Adds one stripe, whose fields are where its writer has them. */
static void add_stripe(const struct mst_reader *r, enum mst_storage storage, void *sum,
                       const char *stripe)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        void *into = (char *)sum + f->stored_offset;
        const void *from = stripe + r->stored_offset[i];

        if (f->storage != storage)
            continue;
        if (f->type == MST_TYPE_HISTOGRAM)
            add_histograms(into, from, r->stored_words[i]);
        else
            add_words(f, into, from, r->stored_words[i]);
    }
}

/* Begins a sum: 0 in the words that the writer has, MST_UNKNOWN in the others. */
static void clear_counters(const struct mst_reader *r, const struct striped *of, void *sum)
{
    size_t i;

    memset(sum, 0xff, of->bytes);
    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].storage == of->storage)
            memset((char *)sum + mst_fields[i].stored_offset, 0,
                   r->stored_words[i] * sizeof(uint64_t));
}

/* Sets sums[name] for each name in use. Reads name by name: all stripes of all labels together can
 * take many megabytes. */
static int add_stripes(const struct mst_reader *r, const struct striped *of,
                       const struct mst_name *names, size_t count, char *sums,
                       char error[MST_ERROR_MAX])
{
    const struct mst_section *s = mst_section_in(&r->header, of->section);
    size_t stripes = r->header.stripes, bytes = stripes * s->stride, name, i;
    char *raw = mst_zalloc(1, bytes);
    int rc = raw != NULL ? 0 : mst_fail(error, "out of memory while copying the board %s", r->path);

    for (name = 0; name < count && rc == 0; name++) {
        char *sum = sums + name * of->bytes;

        clear_counters(r, of, sum);
        if (!names[name].used)
            continue;
        rc = mst_reader_read(r, s->offset + name * bytes, raw, bytes, error);
        for (i = 0; i < stripes && rc == 0; i++)
            add_stripe(r, of->storage, sum, raw + i * s->stride);
    }
    mst_zfree(raw);
    return rc;
}

static int copy_counters(struct mst_copy *c, char error[MST_ERROR_MAX])
{
    static const struct striped labels = { MST_STORAGE_COUNTERS, MST_SECTION_COUNTERS,
                                           sizeof *c->counters };
    static const struct striped ends = { MST_STORAGE_ENDS, MST_SECTION_END_COUNTERS,
                                         sizeof *c->end_counters };

    c->counters = mst_zalloc(c->label_count, sizeof *c->counters);
    c->end_counters = mst_zalloc(c->end_count, sizeof *c->end_counters);
    if (c->counters == NULL || c->end_counters == NULL)
        return mst_fail(error, "out of memory while copying the board %s", c->reader->path);
    if (add_stripes(c->reader, &labels, c->labels, c->label_count, (char *)c->counters,
                    error) != 0)
        return -1;
    return add_stripes(c->reader, &ends, c->ends, c->end_count, (char *)c->end_counters, error);
}

int mst_copy_take(struct mst_copy *c, const struct mst_reader *r, char error[MST_ERROR_MAX])
{
    memset(c, 0, sizeof *c);
    c->reader = r;
    c->taken_ns = mst_now_ns();
    /* Workers before labels, so that a label which a worker names is among those copied. */
    if (copy_header(c, error) != 0
        || copy_processes(c, error) != 0
        || copy_workers(c, error) != 0
        || copy_names(c, MST_SECTION_LABELS, &c->labels, &c->label_count, error) != 0
        || copy_names(c, MST_SECTION_ENDS, &c->ends, &c->end_count, error) != 0
        || copy_array(c, MST_SECTION_IN_FLIGHT, c->process_count,
                      c->label_count * sizeof *c->in_flight, &c->in_flight, error) != 0
        || copy_counters(c, error) != 0
        || copy_totals(c, error) != 0) {
        mst_copy_free(c);
        return -1;
    }
    mst_window_read(&c->window, r, &c->header);
    return 0;
}

void mst_copy_free(struct mst_copy *c)
{
    mst_zfree(c->processes);
    mst_zfree(c->workers);
    mst_zfree(c->labels);
    mst_zfree(c->in_flight);
    mst_zfree(c->counters);
    mst_zfree(c->ends);
    mst_zfree(c->end_counters);
    memset(c, 0, sizeof *c);
}

/* A port alone in a configuration is on all addresses, which are [::] or 0.0.0.0. */
size_t mst_copy_pool_at(const struct mst_copy *c, const char *address)
{
    uint64_t whole = mst_listen_hash(address), port = whole;
    size_t i;

    if (mst_listens_on_all(address))
        port = mst_listen_hash(strrchr(address, ':') + 1);
    for (i = 0; i < c->label_count; i++)
        if (c->labels[i].listen != 0
            && (c->labels[i].listen == whole || c->labels[i].listen == port))
            break;
    return i;
}

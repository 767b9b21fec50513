/* layout.c - how large a board is and where its sections are: see layout.h. The only place that
 * computes the size; `mpmstat status` shows it as BoardBytes.
 */
#include "segment/layout.h"

#include <stdbool.h>
#include <unistd.h>

#include "segment/fields.h"

static uint32_t power_of_two_from(uint32_t n)
{
    uint32_t power = 1;

    while (power < n)
        power <<= 1;
    return power;
}

uint32_t mst_layout_stripes(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (cpus > (long)MST_STRIPES_MAX)
        cpus = MST_STRIPES_MAX;
    return power_of_two_from(cpus < 1 ? 1 : (uint32_t)cpus);
}

uint32_t mst_layout_requests(uint32_t configured)
{
    uint32_t of_cpus = mst_layout_stripes() * MST_JOURNAL_OF_CPU;

    if (configured > 0)
        return configured;
    return of_cpus < MST_JOURNAL_LEAST ? MST_JOURNAL_LEAST
         : of_cpus > MST_JOURNAL_MOST ? MST_JOURNAL_MOST : of_cpus;
}

static bool in_range(const struct mst_layout *l)
{
    /* The limits are far above any configuration that could run, and so low that no product
     * in mst_layout_place() overflows 64 bits. */
    return l->processes >= 1 && l->processes <= 1u << 20
        && l->threads_per_process >= 1 && l->threads_per_process <= 1u << 16
        && l->labels >= 2 && l->labels <= MST_LABELS_MAX
        && l->stripes >= 1 && l->stripes <= MST_STRIPES_MAX
        && (l->stripes & (l->stripes - 1)) == 0
        && l->requests >= 1 && l->requests <= MST_JOURNAL_MAX
        && l->lifecycle >= 1 && l->lifecycle <= MST_JOURNAL_MAX
        && l->code_samples <= MST_JOURNAL_MAX && (l->code_samples & (l->code_samples - 1)) == 0;
}

/* How many entries MST_SECTION_FIELDS has. */
static uint32_t count_stored_fields(void)
{
    uint32_t stored = 0;
    size_t i;

    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].storage != MST_STORAGE_NONE)
            stored++;
    return stored;
}

static uint64_t place(struct mst_section *section, uint64_t offset, uint64_t count, uint64_t stride)
{
    section->offset = offset;
    section->count = (uint32_t)count;
    section->stride = (uint32_t)stride;
    offset += count * stride;
    return (offset + MST_PAGE - 1) / MST_PAGE * MST_PAGE;
}

uint64_t mst_layout_place(const struct mst_layout *l, struct mst_section s[MST_SECTION_COUNT])
{
    uint64_t end = MST_PAGE, workers;
    /* A row of in-flight counts for each process, on cache lines of its own. */
    uint32_t in_flight = (l->labels * (uint32_t)sizeof(uint32_t) + MST_CACHE_LINE - 1)
                       / MST_CACHE_LINE * MST_CACHE_LINE;
    bool is_php = l->producer == MST_PRODUCER_PHP;

    _Static_assert(sizeof(struct mst_header) <= MST_PAGE, "the header is the first page");
    _Static_assert(MST_SECTION_COUNT - MST_SECTION_FIRST <= MST_SECTION_ROOM, "`more` has room");
    if (!in_range(l))
        return 0;
    workers = (uint64_t)l->processes * l->threads_per_process;
    if (workers > UINT32_MAX)
        return 0;
    end = place(&s[MST_SECTION_FIELDS], end, count_stored_fields(),
                sizeof(struct mst_field_name));
    end = place(&s[MST_SECTION_TOTALS], end, 1, sizeof(struct mst_totals));
    end = place(&s[MST_SECTION_PROCESSES], end, l->processes, sizeof(struct mst_process));
    end = place(&s[MST_SECTION_WORKERS], end, workers, sizeof(struct mst_worker));
    end = place(&s[MST_SECTION_IN_FLIGHT], end, l->processes, in_flight);
    end = place(&s[MST_SECTION_LABELS], end, l->labels, sizeof(struct mst_name));
    end = place(&s[MST_SECTION_COUNTERS], end, (uint64_t)l->labels * l->stripes,
                sizeof(struct mst_counters));
    end = place(&s[MST_SECTION_REQUESTS], end, is_php ? 0 : power_of_two_from(l->requests),
                sizeof(struct mst_request_record));
    end = place(&s[MST_SECTION_LIFECYCLE], end, power_of_two_from(l->lifecycle),
                sizeof(struct mst_lifecycle_record));
    end = place(&s[MST_SECTION_PHP_REQUESTS], end, is_php ? power_of_two_from(l->requests) : 0,
                sizeof(struct mst_php_request_record));
    end = place(&s[MST_SECTION_MARKS], end, is_php ? MST_MARK_RECORDS : 0,
                sizeof(struct mst_mark_record));
    end = place(&s[MST_SECTION_FORKS], end, is_php ? 0 : MST_FORKS, sizeof(struct mst_fork));
    end = place(&s[MST_SECTION_ENDS], end, MST_ENDS, sizeof(struct mst_name));
    end = place(&s[MST_SECTION_END_COUNTERS], end, (uint64_t)MST_ENDS * l->stripes,
                sizeof(struct mst_other_end_counters));
    end = place(&s[MST_SECTION_DELIVERIES], end, is_php ? 0 : MST_DELIVERY_RECORDS,
                sizeof(struct mst_delivery_record));
    end = place(&s[MST_SECTION_PATHS], end, is_php ? 0 : MST_PATHS, sizeof(struct mst_path));
    end = place(&s[MST_SECTION_FRAMES], end, MST_FRAMES_OF(l->code_samples),
                sizeof(struct mst_frame));
    end = place(&s[MST_SECTION_STACKS], end, MST_STACKS_OF(l->code_samples),
                sizeof(struct mst_call_stack));
    end = place(&s[MST_SECTION_CODE_SAMPLES], end, l->code_samples,
                sizeof(struct mst_code_sample_record));
    return end <= MST_FILE_MAX ? end : 0;
}

uint64_t mst_layout_bytes(const struct mst_layout *layout)
{
    struct mst_section sections[MST_SECTION_COUNT];

    return mst_layout_place(layout, sections);
}

/* parts.c - tables of a request's parts and of other ends: see parts.h. */
#include "report/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "doc/table.h"
#include "segment/fields.h"
#include "segment/format.h"

#define ENDS_SHOWN 5u     /* of text; the archive has all */

/* ---- where the time went ---------------------------------------------------------------- */

/* Thousandths of the server's time. */
static uint64_t share_of(const struct mst_summary_server *server, uint64_t ns)
{
    return mst_known(mst_summary_milli(mst_known(ns), server->phases[MST_PHASE_TOTAL].sum_ns));
}

void mst_parts_longest_cell(struct mst_doc_table *t, const uint64_t parts_ns[MST_PART_COUNT],
                            uint64_t whole_ns)
{
    enum mst_part longest = mst_part_longest(parts_ns);

    if (parts_ns[longest] == 0) {
        mst_doc_blank(t);
        return;
    }
    mst_doc_words(t, "%s, %s", mst_parts[longest].name,
                  mst_format_percent(mst_summary_milli(parts_ns[longest], whole_ns)).text);
    mst_doc_swatch(t, mst_parts[longest].colour);
}

size_t mst_parts_segments(struct mst_doc_segment segments[MST_PART_COUNT],
                          const uint64_t parts_ns[MST_PART_COUNT])
{
    enum mst_part part;

    for (part = 0; part < MST_PART_COUNT; part++)
        segments[part] = (struct mst_doc_segment){ mst_parts[part].name, mst_parts[part].colour,
                                                   parts_ns[part] };
    return MST_PART_COUNT;
}

void mst_parts_legend(const struct mst_doc *doc, const uint64_t parts_ns[MST_PART_COUNT])
{
    struct mst_doc_key keys[MST_PART_COUNT];
    enum mst_part part;
    size_t count = 0;

    for (part = 0; part < MST_PART_COUNT; part++)
        if (parts_ns[part] > 0)
            keys[count++] = (struct mst_doc_key){ mst_parts[part].colour, mst_parts[part].name,
                                                  mst_parts[part].noun };
    mst_doc_legend(doc, keys, count);
}

/* The sums of a server's requests; 0 where none has the part. */
static void sum_parts(uint64_t parts_ns[MST_PART_COUNT], const struct mst_summary_server *server)
{
    enum mst_part part;

    for (part = 0; part < MST_PART_COUNT; part++)
        parts_ns[part] = server->parts[part].requests > 0 ?
                         mst_known(server->parts[part].times.sum_ns) : 0;
}

static void put_times(struct mst_doc_table *t, const struct mst_summary_server *server,
                      const char *name, const char *colour, const struct mst_summary_times *times)
{
    enum mst_percentile p;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", name);
    mst_doc_swatch(t, colour);
    mst_doc_number(t, times->mean_ns);
    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        mst_doc_number(t, mst_summary_percentile(times, p));
    mst_doc_number(t, times->max_ns);
    mst_doc_number(t, share_of(server, times->sum_ns));
}

/* The parts, then the times that do not add up to the total. */
static void put_table(const struct mst_doc *doc, const struct mst_summary_server *server)
{
    static const struct mst_doc_column columns[] = {
        { "part", .kind = MST_DOC_NAME }, { "mean", .quantity = MST_QUANTITY_TIME },
        { "p50", .quantity = MST_QUANTITY_TIME }, { "p90", .quantity = MST_QUANTITY_TIME },
        { "p95", .quantity = MST_QUANTITY_TIME }, { "p99", .quantity = MST_QUANTITY_TIME },
        { "p99.9", .quantity = MST_QUANTITY_TIME }, { "max", .quantity = MST_QUANTITY_TIME },
        { "share", .quantity = MST_QUANTITY_SHARE },
    };
    static const enum mst_phase others[] = { MST_PHASE_TOTAL, MST_PHASE_HELD, MST_PHASE_FRONT };
    struct mst_doc_table t;
    enum mst_part part;
    size_t i;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (part = 0; part < MST_PART_COUNT; part++)
        if (server->parts[part].requests > 0)
            put_times(&t, server, mst_parts[part].name, mst_parts[part].colour,
                      &server->parts[part].times);
    for (i = 0; i < sizeof others / sizeof *others; i++)
        if (server->phases[others[i]].count > 0)
            put_times(&t, server, mst_phase_names[others[i]], mst_phase_names[others[i]],
                      &server->phases[others[i]]);
    mst_doc_table_end(&t, doc, "Phases", "phases");
}

void mst_parts_put(const struct mst_doc *doc, const struct mst_summary_server *server)
{
    uint64_t parts_ns[MST_PART_COUNT];
    struct mst_doc_segment segments[MST_PART_COUNT];
    struct mst_doc_bar bar = {
        .segments = segments, .whole = mst_known(server->phases[MST_PHASE_TOTAL].sum_ns),
        .quantity = MST_QUANTITY_TIME,
    };

    mst_doc_heading(doc, "Where the time went");
    mst_doc_explain(doc, "The parts add up to the total, exactly: queue, read, handle and send are "
                    "what the other parts leave of these phases. held is for how long a request "
                    "kept a worker, and front was before Apache, and is not in the total.");
    sum_parts(parts_ns, server);
    bar.count = mst_parts_segments(segments, parts_ns);
    mst_doc_bar(doc, &bar);
    put_table(doc, server);
    mst_parts_legend(doc, parts_ns);
}

/* ---- of several servers ------------------------------------------------------------------ */

/* Whether it is one that the load tool talked to, with requests. */
static bool is_asked(const struct mst_summary *s, const struct mst_summary_server *server)
{
    return server->requests > 0 &&
           mst_summary_is_php(server) == mst_summary_is_php(mst_summary_front(s));
}

/* A server's bar, which lives as long as the table. */
struct bar_of {
    struct mst_doc_segment segments[MST_PART_COUNT];
    struct mst_doc_bar     bar;
};

static void put_server(struct mst_doc_table *t, const struct mst_summary_server *server,
                       struct bar_of *of, uint64_t all_ns[MST_PART_COUNT])
{
    uint64_t parts_ns[MST_PART_COUNT], total_ns = server->phases[MST_PHASE_TOTAL].sum_ns;
    enum mst_part part;

    sum_parts(parts_ns, server);
    for (part = 0; part < MST_PART_COUNT; part++)
        all_ns[part] = mst_add_saturated(all_ns[part], parts_ns[part]);
    of->bar = (struct mst_doc_bar){
        .segments = of->segments, .count = mst_parts_segments(of->segments, parts_ns),
        .whole = mst_known(total_ns), .quantity = MST_QUANTITY_TIME,
    };
    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", mst_summary_called(server));
    mst_doc_number(t, server->phases[MST_PHASE_TOTAL].mean_ns);
    mst_parts_longest_cell(t, parts_ns, total_ns);
    mst_doc_bar_above(t, &of->bar);
}

void mst_parts_by_server(const struct mst_doc *doc, const struct mst_summary *s)
{
    static const struct mst_doc_column columns[] = {
        { "server", .kind = MST_DOC_NAME }, { "mean", .quantity = MST_QUANTITY_TIME },
        { "most of its time", .kind = MST_DOC_WORDS },
    };
    struct bar_of *bars;
    uint64_t all_ns[MST_PART_COUNT] = { 0 };
    struct mst_doc_table t;
    size_t i;

    if (mst_summary_fronts(s).count < 2)
        return;
    bars = calloc(s->server_count, sizeof *bars);
    if (bars == NULL) {
        mst_sink_fail(doc->sink, ENOMEM);
        return;
    }
    mst_doc_heading(doc, "Where the time of each server went");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < s->server_count; i++)
        if (is_asked(s, &s->servers[i]))
            put_server(&t, &s->servers[i], &bars[i], all_ns);
    mst_doc_table_end(&t, doc, "Where the time of each server went", "bars");
    free(bars);
    mst_parts_legend(doc, all_ns);
    if (doc->format != MST_DOC_TEXT)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "The phases and the slowest requests below are "
                          "those of %s.", mst_summary_called(mst_summary_front(s)));
    mst_doc_space(doc);
}

/* ---- other ends ------------------------------------------------------------------------- */

/* A handler has all of a request's time: for a terminal it tells no more than the phase. */
static bool is_shown(const struct mst_doc *doc, const struct mst_summary_end *end)
{
    return end->kind != NULL &&
           (doc->format != MST_DOC_TEXT ||
            strcmp(end->kind, mst_other_end_kind_names[MST_END_HANDLER]) != 0);
}

static void put_end(struct mst_doc_table *t, const struct mst_summary *s,
                    const struct mst_summary_end *end)
{
    bool known = end->calls > 0 && end->calls != MST_UNKNOWN && end->end_ns != MST_UNKNOWN;
    const char *name = end->name != NULL ? end->name : "";
    bool is_said = mst_other_end_says_kind(name, end->kind);

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s%s%s", is_said ? "" : end->kind, is_said ? "" : " ", name);
    mst_doc_number(t, end->calls);
    mst_doc_number(t, end->failed);
    mst_doc_number(t, known ? end->end_ns / end->calls : MST_UNKNOWN);
    mst_doc_number(t, mst_summary_at_once_milli(s, end));
}

void mst_ends_put(const struct mst_doc *doc, const struct mst_summary *s,
                  const struct mst_summary_server *server)
{
    static const struct mst_doc_column columns[] = {
        { "other end", .kind = MST_DOC_NAME },
        { "calls", .quantity = MST_QUANTITY_COUNT },
        { "failed", .quantity = MST_QUANTITY_COUNT },
        { "mean", .quantity = MST_QUANTITY_TIME },
        { "at once", .quantity = MST_QUANTITY_MEAN },
    };
    size_t most = doc->format == MST_DOC_TEXT ? ENDS_SHOWN : server->end_count, shown = 0, i;
    struct mst_doc_table t;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < server->end_count && shown < most; i++) {
        if (!is_shown(doc, &server->ends[i]))
            continue;
        if (shown++ == 0) {
            mst_doc_heading(doc, "Other ends of %s",
                            server->producer == MST_PRODUCER_PHP ? "PHP" : "Apache");
            mst_doc_explain(doc, "What requests were handed to, or waited for. The time of all "
                            "calls together, divided by the duration of the run, is how many "
                            "there were at once on average.");
        }
        put_end(&t, s, &server->ends[i]);
    }
    mst_doc_table_end(&t, doc, "Other ends", "ends");
    if (shown > 0)
        mst_doc_space(doc);
}

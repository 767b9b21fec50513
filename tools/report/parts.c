/* parts.c - tables of a request's parts and of other ends: see parts.h. */
#include "report/parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/saturate.h"
#include "doc/markup.h"
#include "doc/table.h"
#include "report/page.h"
#include "segment/fields.h"
#include "segment/format.h"

#define BAR_WIDTH  1000u
#define ENDS_SHOWN 5u     /* of text; the archive has all */

/* ---- where the time went ---------------------------------------------------------------- */

/* Thousandths of the server's time. */
static uint64_t share_of(const struct mst_summary_server *server, uint64_t ns)
{
    return mst_known(mst_summary_milli(mst_known(ns), server->phases[MST_PHASE_TOTAL].sum_ns));
}

static uint64_t width_of(const struct mst_summary_server *server, enum mst_part part)
{
    uint64_t total_ns = server->phases[MST_PHASE_TOTAL].sum_ns;

    if (server->parts[part].requests == 0 || total_ns == MST_UNKNOWN || total_ns == 0)
        return 0;
    return (uint64_t)((unsigned __int128)server->parts[part].times.sum_ns * BAR_WIDTH / total_ns);
}

void mst_parts_bar(struct mst_sink *sink, const struct mst_summary_server *server)
{
    uint64_t at = 0, width;
    enum mst_part part;

    mst_html(sink, "<svg class=\"bar\" viewBox=\"0 0 1000 28\" preserveAspectRatio=\"none\" "
             "aria-hidden=\"true\">");
    for (part = 0; part < MST_PART_COUNT; part++) {
        if (server->parts[part].requests == 0)
            continue;
        width = width_of(server, part);
        mst_html(sink, "<rect height=\"28\" class=\"%s\" x=\"%" PRIu64 "\" width=\"%" PRIu64
                 "\"/>", mst_parts[part].colour, at, width);
        at += width;
    }
    mst_html(sink, "</svg>\n");
}

static void put_legend(struct mst_sink *sink, const struct mst_summary_server *server)
{
    enum mst_part part;

    mst_html(sink, "<ul class=\"legend\">");
    for (part = 0; part < MST_PART_COUNT; part++)
        if (server->parts[part].requests > 0)
            mst_page_key(sink, part);
    mst_html(sink, "</ul>\n");
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
        { "phase", .kind = MST_DOC_NAME }, { "mean", .quantity = MST_QUANTITY_TIME },
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
    mst_doc_heading(doc, "Where the time went");
    mst_doc_explain(doc, "The parts add up to the total, exactly; held is for how long a request "
                    "kept a worker, and front was before Apache, and is not in the total.");
    if (doc->format == MST_DOC_HTML)
        mst_parts_bar(doc->sink, server);
    put_table(doc, server);
    if (doc->format == MST_DOC_HTML)
        put_legend(doc->sink, server);
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

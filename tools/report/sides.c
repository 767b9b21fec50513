/* sides.c - client and server next to each other: see sides.h. */
#include "report/sides.h"

#include <stdio.h>

#include "doc/table.h"
#include "report/summary_text.h"

bool mst_sides_have_one_count(const struct mst_summary *s)
{
    uint64_t requests = mst_summary_fronts(s).requests;

    return requests > 0 && s->client.requests == requests;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void put_figures(struct mst_doc_table *t, enum mst_style style, const char *name,
                        enum mst_quantity quantity, uint64_t client, uint64_t server)
{
    mst_doc_row(t, style);
    mst_doc_words(t, "%s", name);
    mst_doc_number_of(t, quantity, client);
    mst_doc_number_of(t, quantity, server);
}

/* Whether there was any of what should not be. */
static bool is_any(uint64_t client, uint64_t server)
{
    return mst_known(client) > 0 || mst_known(server) > 0;
}

static void put_counts(struct mst_doc_table *t, enum mst_style style, const char *name,
                       uint64_t client, uint64_t server)
{
    put_figures(t, is_any(client, server) ? style : MST_STYLE_PLAIN, name, MST_QUANTITY_COUNT,
                client, server);
}

/* Both times, and their difference as exactly as the client's clock allows. */
static void put_times(struct mst_doc_table *t, const char *name, uint64_t client, uint64_t server,
                      uint64_t step)
{
    uint64_t apart = client > server ? client - server : server - client;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", name);
    mst_doc_number(t, client);
    mst_doc_number(t, server);
    if (client == MST_UNKNOWN || server == MST_UNKNOWN)
        mst_doc_blank(t);
    else if (step != MST_UNKNOWN && apart < step)
        mst_doc_words(t, "< %s", mst_format_time(step).text);
    else
        mst_doc_words(t, "%s%s", client >= server ? "+" : "-", mst_format_time(apart).text);
}

static void put_all_counts(struct mst_doc_table *t, const struct mst_summary *s,
                           const struct mst_summary_all *server, bool brief)
{
    const struct mst_summary_client *c = &s->client;

    if (!brief || !mst_sides_have_one_count(s))
        put_counts(t, MST_STYLE_PLAIN, "requests", c->requests, server->requests);
    if (!brief || is_any(c->failed, server->errors_5xx))
        put_counts(t, MST_STYLE_ERROR, "failed, 5xx", c->failed, server->errors_5xx);
    if (c->non_2xx != MST_UNKNOWN && c->non_2xx + server->non_2xx > 0)
        put_counts(t, MST_STYLE_WARNING, "not 2xx", c->non_2xx, server->non_2xx);
    if (is_any(c->unfinished, server->aborted))
        put_counts(t, MST_STYLE_WARNING, "unfinished", c->unfinished, server->aborted);
    put_figures(t, MST_STYLE_PLAIN, "requests/s", MST_QUANTITY_RATE, c->requests_per_1000s,
                server->rate_milli);
}

static void put_all_times(struct mst_doc_table *t, const struct mst_summary_client *c,
                          const struct mst_summary_times *server, const struct mst_text_form *form)
{
    enum mst_percentile p;

    put_times(t, "mean", c->times.mean_ns, server->mean_ns, c->time_step_ns);
    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        if (mst_percentile_is_shown(form->percentiles, p))
            put_times(t, mst_percentile_names[p], mst_summary_percentile(&c->times, p),
                      mst_summary_percentile(server, p), c->time_step_ns);
    if (!form->brief)
        put_times(t, "max", c->times.max_ns, server->max_ns, c->time_step_ns);
}

/* ---- sentences -------------------------------------------------------------------------- */

/* The difference for each request: one that was slow for the client may have been fast here. */
static void put_join(const struct mst_doc *doc, const struct mst_summary_join *join,
                     const struct mst_text_form *form)
{
    const struct mst_summary_times *t = &join->apart;
    char percentiles[256] = "";
    enum mst_percentile p;
    size_t used = 0;

    if (t->count == 0)
        return;
    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        if (mst_percentile_is_shown(form->percentiles, p))
            used += (size_t)snprintf(percentiles + used, sizeof percentiles - used, ", %s %s",
                                     mst_percentile_names[p],
                                     mst_format_time(mst_summary_percentile(t, p)).text);
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "each by itself (%s joined by %s): mean %s%s, max %s",
                      mst_format_count(t->count).text, join->by == MST_JOIN_ID ? "id" : "time",
                      mst_format_time(t->mean_ns).text, percentiles,
                      mst_format_time(t->max_ns).text);
    if (join->ambiguous > 0)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "(%s of them to the likeliest of several at the "
                          "same time)", mst_format_count(join->ambiguous).text);
}

static void put_failures(const struct mst_doc *doc, const struct mst_summary_client *c)
{
    mst_doc_paragraph(doc, MST_STYLE_ERROR, "%s's failures: %s connect, %s receive, %s timeout, "
                      "%s other, %s length (not as its first)%s", c->tool,
                      mst_format_count(c->failed_connect).text,
                      mst_format_count(c->failed_receive).text,
                      mst_format_count(c->failed_timeout).text,
                      mst_format_count(c->failed_other).text,
                      mst_format_count(c->failed_length).text,
                      mst_known(c->failed_length) > 0 ? ". Where a page's length varies, ab -l "
                      "takes answers of any length" : "");
}

static void name_servers(char *name, size_t size, const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    const char *kind = mst_summary_is_php(front) ? front->sapi : front->mpm;
    size_t count = mst_summary_fronts(s).count;

    if (count > 1)
        snprintf(name, size, "%zu servers", count);
    else
        snprintf(name, size, "%.20s%s%.20s", mst_producer_name(front->producer),
                 kind != NULL ? " " : "", kind != NULL ? kind : "");
}

void mst_sides_put(const struct mst_doc *doc, const struct mst_summary *s,
                   const struct mst_text_form *form)
{
    const struct mst_summary_client *c = &s->client;
    const struct mst_summary_all server = mst_summary_fronts(s);
    char name[64];
    const struct mst_doc_column columns[] = {
        { "", .kind = MST_DOC_LABEL },
        { c->tool != NULL ? c->tool : "(no client)", .quantity = MST_QUANTITY_TIME },
        { name, .quantity = MST_QUANTITY_TIME },
        { c->times.mean_ns != MST_UNKNOWN ? "client - server" : "", .quantity = MST_QUANTITY_TIME },
    };
    struct mst_doc_table t;

    name_servers(name, sizeof name, s);
    mst_doc_heading(doc, "Both sides");
    mst_doc_explain(doc, "What the client saw, and how much of it the server knows. The difference "
                    "is the network, the kernel's accept queue, retransmitted packets, and the "
                    "load tool itself.");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    put_all_counts(&t, s, &server, form->brief);
    put_all_times(&t, c, &server.phases[MST_PHASE_TOTAL], form);
    mst_doc_table_end(&t, doc, "Both sides", "sides");
    if (!form->brief)
        put_join(doc, &c->join, form);
    if (mst_known(c->failed) > 0)
        put_failures(doc, c);
    if (c->corrected)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "%s corrects its times for coordinated omission: "
                          "they include made-up ones", c->tool);
    if (!form->brief)
        mst_doc_space(doc);
}

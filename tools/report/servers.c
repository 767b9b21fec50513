/* summary_together.c - several servers of a kind in a table, and all of them together: see
 * summary_text.h.
 *
 * Percentiles of all together are not known from those of each; mean and maximum are.
 */
#include <stdio.h>

#include "console/format.h"
#include "report/lines.h"
#include "report/resources.h"
#include "report/summary_text.h"
#include "segment/format.h"

#define NAME_COLUMN 67u

/* A row's figures. MST_UNKNOWN: not known of one of the servers. */
struct row {
    uint64_t requests, rate_milli, times, sum_ns, max_ns, errors, busy_milli, limit;
};

static struct row row_of(const struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_times *total = &server->phases[MST_PHASE_TOTAL];

    return (struct row){
        .requests = server->requests, .rate_milli = mst_summary_rate_milli(s, server),
        .times = total->count, .sum_ns = total->count > 0 ? total->sum_ns : 0,
        .max_ns = total->count > 0 ? total->max_ns : 0, .errors = server->errors_5xx,
        .busy_milli = server->mean_busy_milli, .limit = server->workers_limit,
    };
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a == MST_UNKNOWN || b == MST_UNKNOWN || a > MST_UNKNOWN - b ? MST_UNKNOWN : a + b;
}

static void add_row(struct row *all, const struct row *one)
{
    all->requests = sum_of(all->requests, one->requests);
    all->rate_milli = sum_of(all->rate_milli, one->rate_milli);
    all->times = sum_of(all->times, one->times);
    all->sum_ns = sum_of(all->sum_ns, one->sum_ns);
    all->max_ns = one->max_ns > all->max_ns ? one->max_ns : all->max_ns;
    all->errors = sum_of(all->errors, one->errors);
    all->busy_milli = sum_of(all->busy_milli, one->busy_milli);
    all->limit = sum_of(all->limit, one->limit);
}

static void put_row(struct mst_sink *sink, enum mst_style style, const struct row *row,
                    const char *name)
{
    bool is_timed = row->times > 0 && row->times != MST_UNKNOWN && row->sum_ns != MST_UNKNOWN;
    char figures[256];

    snprintf(figures, sizeof figures, "  %9s%12s%9s%9s%7s%9s%7s",
             mst_format_count(row->requests).text, mst_format_milli(row->rate_milli).text,
             mst_format_time(is_timed ? row->sum_ns / row->times : MST_UNKNOWN).text,
             mst_format_time(is_timed ? row->max_ns : MST_UNKNOWN).text,
             mst_format_count(row->errors).text, mst_format_milli(row->busy_milli).text,
             mst_format_count(row->limit).text);
    figures[NAME_COLUMN - 1] = '\0';
    mst_wrapped_styled(sink, style, figures, NAME_COLUMN, MST_TEXT_WIDTH, name);
}

static void put_servers_of_a_kind(struct mst_sink *sink, const struct mst_summary *s, bool is_php)
{
    struct row all = { 0 }, row;
    char name[64];
    size_t count = 0, i;

    for (i = 0; i < s->server_count; i++)
        count += mst_summary_is_php(&s->servers[i]) == is_php;
    if (count < 2)
        return;
    mst_line(sink, "  %9s%12s%9s%9s%7s%9s%7s   %s", "requests", "requests/s", "mean", "max", "5xx",
             "busy", "limit", "server");
    for (i = 0; i < s->server_count; i++) {
        if (mst_summary_is_php(&s->servers[i]) != is_php)
            continue;
        row = row_of(s, &s->servers[i]);
        add_row(&all, &row);
        put_row(sink, MST_STYLE_PLAIN, &row, mst_summary_called(&s->servers[i]));
    }
    snprintf(name, sizeof name, "all %zu together", count);
    put_row(sink, MST_STYLE_STRONG, &all, name);
    mst_sink_char(sink, '\n');
}

void mst_summary_together_text(struct mst_sink *sink, const struct mst_summary *s)
{
    put_servers_of_a_kind(sink, s, false);
    put_servers_of_a_kind(sink, s, true);
}

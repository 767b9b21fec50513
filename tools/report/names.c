/* names.c - a server's requests by name: see names.h. */
#include "report/names.h"

#include <errno.h>

#include "analysis/by_name.h"
#include "doc/table.h"
#include "report/metrics.h"
#include "report/parts.h"
#include "segment/parts.h"

/* ---- a table --------------------------------------------------------------------------- */

struct by {
    const char *title, *about, *column;
    bool        has_parts;
};

static uint64_t mean_ns(const struct mst_by_name_row *row)
{
    return row->requests > 0 ? row->sum_ns / row->requests : MST_UNKNOWN;
}

static uint64_t share_milli(const struct mst_by_name *table, const struct mst_by_name_row *row)
{
    return mst_summary_milli(row->sum_ns, table->sum_ns);
}

static void put_row(struct mst_doc_table *t, const struct mst_by_name *table,
                    const struct mst_by_name_row *row)
{
    if (row->name != NULL) {
        mst_doc_row(t, MST_STYLE_PLAIN);
        mst_doc_words(t, "%s", row->name[0] != '\0' ? row->name : "(none)");
    } else {
        mst_doc_foot(t);
        mst_doc_words(t, "%zu others", row->names);
    }
    mst_doc_number(t, row->requests);
    mst_doc_number(t, share_milli(table, row));
    mst_doc_number(t, mean_ns(row));
    mst_doc_number(t, row->p50_ns);
    mst_doc_number(t, row->p95_ns);
    mst_doc_number(t, row->p99_ns);
    mst_doc_number(t, row->errors_4xx);
    mst_doc_number(t, row->errors_5xx);
    mst_doc_number(t, row->aborted);
    mst_parts_longest_cell(t, row->parts_ns, row->sum_ns);
}

enum { NAME, REQUESTS, SHARE, MEAN, P50, P95, P99, E4XX, E5XX, ABORTED, MAIN_PART, WIDTH };

static void hide(struct mst_doc_table *t, const struct by *by, bool is_narrow)
{
    static const size_t wide[] = { P50, P99, E4XX, E5XX, ABORTED };
    size_t i;

    for (i = 0; is_narrow && i < sizeof wide / sizeof *wide; i++)
        mst_doc_hide(t, wide[i]);
    if (!by->has_parts)
        mst_doc_hide(t, MAIN_PART);
}

static void put_table(const struct mst_doc *doc, const struct by *by,
                      const struct mst_by_name *table)
{
    const struct mst_doc_column columns[WIDTH] = {
        [NAME] = { by->column, .kind = MST_DOC_NAME },
        [REQUESTS] = { "requests", .quantity = MST_QUANTITY_COUNT },
        [SHARE] = { "share of time", .word = "of time", .quantity = MST_QUANTITY_SHARE },
        [MEAN] = { "mean", .quantity = MST_QUANTITY_TIME },
        [P50] = { "p50", .quantity = MST_QUANTITY_TIME },
        [P95] = { "p95", .quantity = MST_QUANTITY_TIME },
        [P99] = { "p99", .quantity = MST_QUANTITY_TIME },
        [E4XX] = { "4xx", .quantity = MST_QUANTITY_COUNT },
        [E5XX] = { "5xx", .quantity = MST_QUANTITY_COUNT },
        [ABORTED] = { "aborted", .quantity = MST_QUANTITY_COUNT },
        [MAIN_PART] = { "main part", .word = "most of it", .kind = MST_DOC_WORDS },
    };
    struct mst_doc_table t;
    size_t i;

    mst_doc_heading(doc, "%s", by->title);
    mst_doc_explain(doc, by->about);
    mst_doc_table_begin(&t, columns, WIDTH);
    mst_doc_sorted(&t, SHARE);
    hide(&t, by, doc->format == MST_DOC_TEXT);
    for (i = 0; i < table->count; i++)
        put_row(&t, table, &table->rows[i]);
    mst_doc_table_end(&t, doc, by->title, "sortable");
    mst_doc_space(doc);
}

/* ---- a server's ------------------------------------------------------------------------ */

static const struct by tables[] = {
    [MST_BY_PAGE] = { "By page", "Requests of each path, without its query; {n} is any number "
                      "or long id, * the name of a file (MPMStatPaths).", "page", true },
    [MST_BY_LABEL] = { "By label", "Requests of each label (MPMStatLabel, else the virtual "
                       "host), as Apache timed them.", "label", true },
    [MST_BY_HANDLER] = { "By handler and backend", "What Apache handed the requests to.",
                         "handler, backend", true },
    [MST_BY_SCRIPT] = { "By script", "What PHP ran: waiting for a PHP worker, and running.",
                        "script", true },
};

static void put_by(const struct mst_doc *doc, enum mst_by by,
                   const struct mst_summary_server *server, size_t most, size_t least)
{
    struct mst_by_name table;

    if (!mst_by_name_read(&table, by, server, most))
        mst_sink_fail(doc->sink, ENOMEM);
    else if (table.count >= least)
        put_table(doc, &tables[by], &table);
    mst_by_name_free(&table);
}

static bool put_ends(const struct mst_doc *doc, const struct mst_summary_server *server,
                     sqlite3 *db, size_t most)
{
    static const struct by by_end = {
        "By other end", "What PHP's requests waited for, each with its time in one request; the "
        "share is of all of PHP's time. Of each request, the two ends that took longest.",
        "other end", false,
    };
    struct mst_by_name ends;
    bool fine = mst_by_name_ends(&ends, db, server, most);

    if (fine && ends.count > 0)
        put_table(doc, &by_end, &ends);
    mst_by_name_free(&ends);
    return fine;
}

void mst_pages_put(const struct mst_doc *doc, const struct mst_summary_server *server, size_t most)
{
    if (mst_summary_is_php(server) || server->requests == 0)
        return;
    if (server->with_path > 0) {
        if (server->pages.count <= most)   /* the summary has as many as are shown */
            put_table(doc, &tables[MST_BY_PAGE], &server->pages);
        else
            put_by(doc, MST_BY_PAGE, server, most, 1);
        return;
    }
    mst_doc_heading(doc, "By page");
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "Which page is slow is not known: with MPMStatPaths On "
                      "in its configuration, Apache records the path of each request, without the "
                      "query.");
    mst_doc_space(doc);
}

bool mst_names_put(const struct mst_doc *doc, const struct mst_summary_server *server, sqlite3 *db,
                   size_t most)
{
    size_t least = doc->format == MST_DOC_TEXT ? 2 : 1;

    if (server->requests == 0)
        return true;
    if (mst_summary_is_php(server)) {
        put_by(doc, MST_BY_SCRIPT, server, most, least);
        return doc->format == MST_DOC_TEXT || put_ends(doc, server, db, most);
    }
    mst_pages_put(doc, server, most);
    put_by(doc, MST_BY_LABEL, server, most, least);
    put_by(doc, MST_BY_HANDLER, server, most, least);
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void put_page(struct mst_json *j, const struct mst_by_name *pages,
                     const struct mst_by_name_row *row)
{
    size_t longest = mst_part_longest(row->parts_ns);

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "path", row->name);
    mst_json_count(j, "paths", row->names);
    mst_json_count(j, "requests", row->requests);
    mst_put_milli(j, "share", share_milli(pages, row));
    mst_json_seconds(j, "mean_seconds", mean_ns(row));
    mst_json_seconds(j, "p50_seconds", row->p50_ns);
    mst_json_seconds(j, "p95_seconds", row->p95_ns);
    mst_json_seconds(j, "p99_seconds", row->p99_ns);
    mst_json_count(j, "errors_4xx", row->errors_4xx);
    mst_json_count(j, "errors_5xx", row->errors_5xx);
    mst_json_count(j, "aborted", row->aborted);
    mst_json_string(j, "main_part",
                    row->parts_ns[longest] > 0 ? mst_parts[longest].name : NULL);
    mst_json_seconds(j, "main_part_seconds", row->parts_ns[longest]);
    mst_json_end(j, '}');
}

void mst_pages_json(struct mst_json *j, const struct mst_summary_server *server)
{
    const struct mst_by_name *pages = &server->pages;
    size_t i;

    if (pages->count == 0) {
        mst_json_string(j, "pages", NULL);
        return;
    }
    mst_json_begin(j, "pages", '[');
    for (i = 0; i < pages->count; i++)
        put_page(j, pages, &pages->rows[i]);
    mst_json_end(j, ']');
}

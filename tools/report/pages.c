/* pages.c - an Apache's requests by page: see pages.h. */
#include "report/pages.h"

#include <stdio.h>

#include "doc/table.h"
#include "report/metrics.h"
#include "segment/parts.h"

#define PAGES_SHOWN 8u   /* HTML and JSON have more */

static uint64_t mean_ns(const struct mst_by_name_row *row)
{
    return row->requests > 0 ? row->sum_ns / row->requests : MST_UNKNOWN;
}

static uint64_t share_milli(const struct mst_by_name *pages, const struct mst_by_name_row *row)
{
    return mst_summary_milli(row->sum_ns, pages->sum_ns);
}

/* "database, 71 %"; "" where there is no part. */
static void main_part(const struct mst_by_name_row *row, char text[64])
{
    size_t longest = mst_part_longest(row->parts_ns);

    text[0] = '\0';
    if (row->parts_ns[longest] > 0)
        snprintf(text, 64, "%s, %s", mst_parts[longest].name,
                 mst_format_percent(mst_summary_milli(row->parts_ns[longest], row->sum_ns)).text);
}

/* The rows that are shown; those that are not are in JSON. */
static size_t shown(const struct mst_by_name *pages)
{
    return pages->count < PAGES_SHOWN ? pages->count : PAGES_SHOWN;
}

static void name_of(const struct mst_by_name_row *row, char text[MST_PATH_NAME_MAX])
{
    if (row->name != NULL)
        snprintf(text, MST_PATH_NAME_MAX, "%s", row->name);
    else
        snprintf(text, MST_PATH_NAME_MAX, "%zu others", row->names);
}

static void put_page(struct mst_doc_table *t, const struct mst_by_name *pages,
                     const struct mst_by_name_row *row)
{
    char name[MST_PATH_NAME_MAX], part[64];

    name_of(row, name);
    main_part(row, part);
    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", name);
    mst_doc_number(t, row->requests);
    mst_doc_number(t, share_milli(pages, row));
    mst_doc_number(t, mean_ns(row));
    mst_doc_number(t, row->p95_ns);
    mst_doc_words(t, "%s", part);
}

void mst_pages_put(const struct mst_doc *doc, const struct mst_summary_server *server)
{
    static const struct mst_doc_column columns[] = {
        { "page", .kind = MST_DOC_NAME },
        { "requests", .quantity = MST_QUANTITY_COUNT },
        { "of time", .quantity = MST_QUANTITY_SHARE },
        { "mean", .quantity = MST_QUANTITY_TIME },
        { "p95", .quantity = MST_QUANTITY_TIME },
        { "most of it", .kind = MST_DOC_WORDS },
    };
    const struct mst_by_name *pages = &server->pages;
    struct mst_doc_table t;
    size_t i;

    if (mst_summary_is_php(server) || server->requests == 0)
        return;
    if (pages->count == 0)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "%s", MST_PAGES_UNKNOWN);
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < shown(pages); i++)
        put_page(&t, pages, &pages->rows[i]);
    mst_doc_table_end(&t, doc, "Pages", "pages");
    mst_doc_space(doc);
}

static void put_row(struct mst_json *j, const struct mst_by_name *pages,
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
        put_row(j, pages, &pages->rows[i]);
    mst_json_end(j, ']');
}

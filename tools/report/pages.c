/* pages.c - an Apache's requests by page: see pages.h. */
#include "report/pages.h"

#include <stdio.h>
#include <string.h>

#include "console/format.h"
#include "report/lines.h"
#include "report/markup.h"
#include "report/metrics.h"
#include "segment/parts.h"

#define PAGES_SHOWN 8u    /* HTML and JSON have more */
#define NAME_SHOWN  48u   /* columns of a name in a line; the others have all of it */
#define NUMBERS     45u   /* columns of the numbers before it */

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

void mst_pages_text(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const struct mst_by_name *pages = &server->pages;
    char name[MST_PATH_NAME_MAX], part[64], numbers[NUMBERS * 4], text[192];
    size_t i;

    if (mst_summary_is_php(server) || server->requests == 0)
        return;
    if (pages->count == 0) {
        mst_wrapped(sink, "", 2, MST_TEXT_WIDTH, MST_PAGES_UNKNOWN);
        mst_sink_char(sink, '\n');
        return;
    }
    mst_line(sink, "  %9s%9s%11s%11s   %s", "requests", "of time", "mean", "p95",
             "page: what it took most for");
    for (i = 0; i < shown(pages); i++) {
        const struct mst_by_name_row *row = &pages->rows[i];

        name_of(row, name);
        main_part(row, part);
        snprintf(numbers, sizeof numbers, "  %9s%9s%11s%11s",
                 mst_format_count(row->requests).text,
                 mst_format_percent(share_milli(pages, row)).text,
                 mst_format_time(mean_ns(row)).text, mst_format_time(row->p95_ns).text);
        snprintf(text, sizeof text, "%.*s%s%s%s", (int)NAME_SHOWN, name,
                 strlen(name) > NAME_SHOWN ? "..." : "", part[0] != '\0' ? ": " : "", part);
        mst_wrapped(sink, numbers, NUMBERS, MST_TEXT_WIDTH, text);
    }
    mst_sink_char(sink, '\n');
}

void mst_pages_markdown(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const struct mst_by_name *pages = &server->pages;
    char name[MST_PATH_NAME_MAX], part[64];
    size_t i;

    if (pages->count == 0)
        return;
    mst_markdown(sink, "\n| page | requests | of time | mean | p95 | most of it |\n"
                       "|---|--:|--:|--:|--:|---|\n");
    for (i = 0; i < shown(pages); i++) {
        const struct mst_by_name_row *row = &pages->rows[i];

        name_of(row, name);
        main_part(row, part);
        mst_markdown(sink, "| %s | %s | %s | %s | %s | %s |\n", name,
                     mst_format_count(row->requests).text,
                     mst_format_percent(share_milli(pages, row)).text,
                     mst_format_time(mean_ns(row)).text, mst_format_time(row->p95_ns).text, part);
    }
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

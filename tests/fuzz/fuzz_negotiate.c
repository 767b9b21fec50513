/* fuzz_negotiate.c - any bytes as what a client sends to the status page: a query, a line feed,
 * an Accept header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool right)
{
    if (!right)
        abort();
}

/* A sentence that shows anywhere. */
static void expect_printable(const char *sentence)
{
    expect(strlen(sentence) > 0 && strlen(sentence) < MST_ERROR_MAX);
    for (; *sentence != '\0'; sentence++)
        expect(*sentence >= ' ' && *sentence <= '~');
}

/* ---- the Accept header ------------------------------------------------------------- */

static char *with(const char *accept, const char *more)
{
    char *text;

    expect(asprintf(&text, "%s%s", accept, more) >= 0);
    return text;
}

/* Media types have no case, and what is not acceptable changes nothing. */
static void negotiate(const char *accept)
{
    enum mst_format format = mst_format_accepted(accept);
    char *text = with(accept, ",text/html;q=0,*/*;q=0.000, nonsense"), *c;

    expect(format < MST_FORMAT_JOURNAL);
    expect(mst_format_accepted(text) == format);
    for (c = text; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    expect(mst_format_accepted(text) == format);
    free(text);
    /* Of formats that are wanted as much as can be, the first is taken. */
    text = with("application/json;q=1,", accept);
    expect(mst_format_accepted(text) == MST_FORMAT_JSON);
    free(text);
}

/* ---- the query --------------------------------------------------------------------- */

static void expect_limits(const struct mst_status_query *q)
{
    struct mst_cursor cursor;

    expect(q->format < MST_FORMAT_COUNT);
    expect(q->limit >= 1 && q->limit <= MST_JOURNAL_PAGE_MAX);
    expect(memchr(q->since, '\0', sizeof q->since) != NULL);
    expect(q->since[0] == '\0' || strcmp(q->since, "now") == 0 || strcmp(q->since, "start") == 0
           || strcmp(q->since, "last") == 0
           || mst_cursor_parse(&cursor, q->since) == 0);
    expect(memchr(q->board, '\0', sizeof q->board) != NULL);
    expect(strchr("01248", '0' + (int)q->histograms.bounds) != NULL);
    expect(q->histograms.phases < 1u << MST_PHASE_COUNT);
    expect(strspn(q->board, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
           == strlen(q->board));
    expect(q->board[0] == '/' || strchr(q->board, '/') == NULL);
    expect(q->format == MST_FORMAT_JOURNAL
           || (q->since[0] == '\0' && q->board[0] == '\0' && !q->lifecycle_only
               && q->limit == MST_JOURNAL_PAGE_MAX));
}

/* A query that is made from the result gives the same result. */
static void expect_the_same_again(const struct mst_status_query *q)
{
    bool is_journal = q->format == MST_FORMAT_JOURNAL;
    char text[512], limit[32] = "", bounds[32] = "", error[MST_ERROR_MAX];
    struct mst_status_query again;

    if (is_journal)
        snprintf(limit, sizeof limit, "&limit=%zu", q->limit);
    if (q->histograms.bounds > 0)
        snprintf(bounds, sizeof bounds, "&bounds=%u", q->histograms.bounds);
    snprintf(text, sizeof text, "format=%s%s%s%s%s%s%s%s", mst_format_name(q->format), limit,
             bounds,
             q->since[0] != '\0' ? "&since=" : "", q->since,
             q->board[0] != '\0' ? "&board=" : "", q->board,
             q->lifecycle_only ? "&only=lifecycle" : "");
    expect(mst_status_query_parse(&again, text, "text/html", error) == 0);
    expect(again.format == q->format && again.limit == q->limit
           && again.lifecycle_only == q->lifecycle_only
           && again.histograms.bounds == q->histograms.bounds);
    expect(strcmp(again.since, q->since) == 0 && strcmp(again.board, q->board) == 0);
}

static void query(const char *text, const char *accept)
{
    char error[MST_ERROR_MAX] = "";
    enum mst_fields_format fields;
    struct mst_status_query q;
    enum mst_format format;

    if (mst_status_query_parse(&q, text, accept, error) == 0) {
        expect_limits(&q);
        expect_the_same_again(&q);
    } else {
        expect_printable(error);
    }
    if (text == NULL)
        return;
    if (mst_format_parse(&format, text, MST_FORMAT_SNAPSHOTS, error) != 0)
        expect_printable(error);
    else
        expect(format < MST_FORMAT_SNAPSHOTS);
    if (mst_fields_format_parse(&fields, text, error) != 0)
        expect_printable(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *accept;

    expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    accept = strchr(text, '\n');
    if (accept != NULL)
        *accept++ = '\0';
    query(text, accept);
    query(NULL, accept);
    if (accept != NULL)
        negotiate(accept);
    free(text);
    return 0;
}

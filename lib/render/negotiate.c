/* negotiate.c - format names, the Accept header, the query of the status page: see negotiate.h.
 *
 * The strings come from clients: nothing in them is trusted, and errors quote them cut and
 * printable.
 */
#include "render/negotiate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- names ---------------------------------------------------------------------- */

#define FORMAT_NAME(suffix, name, type) name,
#define FORMAT_TYPE(suffix, name, type) type,
static const char *const format_names[] = { MST_FORMATS(FORMAT_NAME) };
static const char *const content_types[] = { MST_FORMATS(FORMAT_TYPE) };

const char *mst_format_name(enum mst_format format)
{
    return format_names[format];
}

const char *mst_format_content_type(enum mst_format format)
{
    return content_types[format];
}

bool mst_format_is_metrics(enum mst_format format)
{
    return format == MST_FORMAT_OPENMETRICS || format == MST_FORMAT_PROMETHEUS
        || format == MST_FORMAT_PROTOBUF;
}

bool mst_format_has_exemplars(enum mst_format format)
{
    return format == MST_FORMAT_OPENMETRICS || format == MST_FORMAT_PROTOBUF;
}

/* A client's text for a sentence: cut, and printable ASCII. */
static const char *quotable(char buffer[41], const char *text)
{
    size_t i;

    for (i = 0; i < 40 && text[i] != '\0'; i++)
        buffer[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    buffer[i] = '\0';
    return buffer;
}

/* A parameter of the query that is not as expected. */
static int fail_parameter(char error[MST_ERROR_MAX], const char *name, const char *value,
                          const char *expected)
{
    char buffer[41];

    return mst_fail(error, "%s=%s is not valid; expected is %s", name, quotable(buffer, value),
                    expected);
}

static int not_one_of(char error[MST_ERROR_MAX], const char *given, const char *const *valid,
                      size_t count)
{
    char buffer[41];
    size_t i, used;

    used = (size_t)snprintf(error, MST_ERROR_MAX, "there is no format \"%s\"; valid are",
                            quotable(buffer, given));
    for (i = 0; i < count; i++)
        used += (size_t)snprintf(error + used, MST_ERROR_MAX - used, "%s %s", i > 0 ? "," : "",
                                 valid[i]);
    return -1;
}

/* The index of `name` in names[count], or count. */
static size_t name_index(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

int mst_format_parse(enum mst_format *format, const char *name, enum mst_format among,
                     char error[MST_ERROR_MAX])
{
    size_t i = name_index(format_names, among, name);

    if (i == (size_t)among)
        return not_one_of(error, name, format_names, among);
    *format = (enum mst_format)i;
    return 0;
}

int mst_fields_format_parse(enum mst_fields_format *format, const char *name,
                            char error[MST_ERROR_MAX])
{
    static const char *const names[] = {
        [MST_FIELDS_TEXT] = "text", [MST_FIELDS_JSON] = "json", [MST_FIELDS_MARKDOWN] = "md",
    };
    size_t count = sizeof(names) / sizeof(names[0]), i = name_index(names, count, name);

    if (i == count)
        return not_one_of(error, name, names, count);
    *format = (enum mst_fields_format)i;
    return 0;
}

/* ---- the Accept header -------------------------------------------------------------- */

/* A part of a header; no NUL ends it. */
struct span {
    const char *at;
    size_t      length;
};

static struct span trimmed(struct span s)
{
    while (s.length > 0 && (s.at[0] == ' ' || s.at[0] == '\t'))
        s.at++, s.length--;
    while (s.length > 0 && (s.at[s.length - 1] == ' ' || s.at[s.length - 1] == '\t'))
        s.length--;
    return s;
}

/* Cuts off and returns the part before `separator` (or the end), trimmed. */
static struct span cut(struct span *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->length);
    size_t length = end == NULL ? rest->length : (size_t)(end - rest->at);
    struct span part = { rest->at, length };

    rest->at += length + (end != NULL);
    rest->length -= length + (end != NULL);
    return trimmed(part);
}

static bool is(struct span s, const char *word)
{
    return s.length == strlen(word) && strncasecmp(s.at, word, s.length) == 0;
}

/* A quality in thousandths: "0.5" is 500. A malformed one is 1000. */
static unsigned quality(struct span s)
{
    unsigned value = 0, unit = 100;
    size_t i;

    if (s.length == 0 || s.at[0] != '0')
        return 1000;
    for (i = 2; i < s.length && unit > 0 && s.at[1] == '.'; i++, unit /= 10) {
        if (s.at[i] < '0' || s.at[i] > '9')
            break;
        value += (unsigned)(s.at[i] - '0') * unit;
    }
    return value;
}

/* One media range of the header. */
struct range {
    struct span type;
    bool        versioned;    /* text/plain;version=...: from a scraper */
    bool        families;     /* proto=...MetricFamily: of the messages that there are */
    bool        delimited;    /* encoding=delimited: binary, each after its length */
    unsigned    quality;
};

static struct range parse_range(struct span text)
{
    struct range r = { .quality = 1000 };

    r.type = cut(&text, ';');
    while (text.length > 0) {
        struct span value = cut(&text, ';'), name = cut(&value, '=');

        if (is(name, "q"))
            r.quality = quality(trimmed(value));
        else if (is(name, "version"))
            r.versioned = true;
        else if (is(name, "proto"))
            r.families = is(trimmed(value), "io.prometheus.client.MetricFamily");
        else if (is(name, "encoding"))
            r.delimited = is(trimmed(value), "delimited");
    }
    return r;
}

/* How exactly a range names an existing format: 3 by its type, 2 by "type/\*", 1 by "*\/\*", 0 not
 * at all. */
static unsigned range_format(const struct range *r, enum mst_format *format)
{
    static const struct {
        const char     *type;
        enum mst_format format;
        unsigned        exactness;
    } known[] = {
        { "application/openmetrics-text", MST_FORMAT_OPENMETRICS, 3 },
        { "application/json",             MST_FORMAT_JSON,        3 },
        { "application/vnd.google.protobuf", MST_FORMAT_PROTOBUF, 3 },
        { "text/html",                    MST_FORMAT_HTML,        3 },
        { "text/plain",                   MST_FORMAT_TEXT,        3 },
        { "application/*",                MST_FORMAT_JSON,        2 },
        { "text/*",                       MST_FORMAT_TEXT,        2 },
        { "*/*",                          MST_FORMAT_TEXT,        1 },
    };
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!is(r->type, known[i].type))
            continue;
        if (known[i].format == MST_FORMAT_PROTOBUF && !(r->families && r->delimited))
            return 0;
        *format = known[i].format;
        if (known[i].exactness == 3 && *format == MST_FORMAT_TEXT && r->versioned)
            *format = MST_FORMAT_PROMETHEUS;
        return known[i].exactness;
    }
    return 0;
}

enum mst_format mst_format_accepted(const char *accept)
{
    struct span rest = { accept, accept == NULL ? 0 : strlen(accept) };
    enum mst_format best = MST_FORMAT_TEXT, format;
    unsigned best_rank = 0;

    while (rest.length > 0) {
        struct range r = parse_range(cut(&rest, ','));
        unsigned exactness = range_format(&r, &format);
        unsigned rank = r.quality == 0 || exactness == 0 ? 0 : r.quality * 4 + exactness;

        if (rank > best_rank) {       /* the first of equals */
            best = format;
            best_rank = rank;
        }
    }
    return best;
}

/* ---- the status page's query ----------------------------------------------------------- */

static int parse_limit(struct mst_status_query *q, const char *value, char error[MST_ERROR_MAX])
{
    size_t i, limit = 0;

    for (i = 0; value[i] >= '0' && value[i] <= '9' && limit <= MST_JOURNAL_PAGE_MAX; i++)
        limit = limit * 10 + (size_t)(value[i] - '0');
    if (value[i] != '\0' || limit < 1 || limit > MST_JOURNAL_PAGE_MAX) {
        char expected[40];

        snprintf(expected, sizeof expected, "a number from 1 to %u", MST_JOURNAL_PAGE_MAX);
        return fail_parameter(error, "limit", value, expected);
    }
    q->limit = limit;
    return 0;
}

static int parse_since(struct mst_status_query *q, const char *value, char error[MST_ERROR_MAX])
{
    struct mst_cursor cursor;

    if (strcmp(value, "now") != 0 && strcmp(value, "start") != 0
        && strcmp(value, "last") != 0 && mst_cursor_parse(&cursor, value) != 0)
        return fail_parameter(error, "since", value, "\"now\", \"start\", \"last\", or the cursor "
                              "that an earlier answer gave as \"next\"");
    memcpy(q->since, value, strlen(value) + 1);   /* a cursor is shorter than MST_CURSOR_MAX */
    return 0;
}

/* The value is not URL-decoded: boards with other names cannot be named. It is compared with the
 * boards that are shown, and no file is opened by it. */
static int parse_board(struct mst_status_query *q, const char *value, char error[MST_ERROR_MAX])
{
    static const char accept[] = "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789._-";
    size_t n = strspn(value, value[0] == '/' ? accept : accept + 1);

    if (n == 0 || value[n] != '\0' || n >= MST_QUERY_BOARD_MAX)
        return fail_parameter(error, "board", value, "the base name of a board's file, or its "
                              "path, of letters, digits, '.', '_' and '-'");
    memcpy(q->board, value, n + 1);
    return 0;
}

static int parse_only(struct mst_status_query *q, const char *value, char error[MST_ERROR_MAX])
{
    if (strcmp(value, "lifecycle") != 0)
        return fail_parameter(error, "only", value, "only=lifecycle");
    q->lifecycle_only = true;
    return 0;
}

static int parse_bounds(struct mst_status_query *q, const char *value, char error[MST_ERROR_MAX])
{
    if (value[0] == '\0' || value[1] != '\0' || strchr("1248", value[0]) == NULL)
        return fail_parameter(error, "bounds", value, "1, 2, 4 or 8");
    q->histograms.bounds = (unsigned)(value[0] - '0');
    return 0;
}

/* It can be given again, so that each of them has bounds. */
static int parse_phase(struct mst_status_query *q, const char *value, char error[MST_ERROR_MAX])
{
    size_t i = name_index(mst_phase_names, MST_PHASE_COUNT, value);

    if (i == MST_PHASE_COUNT)
        return fail_parameter(error, "phase", value, "the name of a phase, as total, queue or "
                              "php_run; it can be given again");
    q->histograms.phases |= 1u << i;
    return 0;
}

#define JOURNALS_OWN "since, limit, only and board"
#define METRICS_OWN  "bounds and phase"

/* Reads one NAME=VALUE of the query. */
static int parse_parameter(struct mst_status_query *q, const char *name, const char *value,
                           char error[MST_ERROR_MAX])
{
    char buffer[41];

    if (strcmp(name, "format") == 0)
        return mst_format_parse(&q->format, value, MST_FORMAT_COUNT, error);
    if (strcmp(name, "since") == 0)
        return parse_since(q, value, error);
    if (strcmp(name, "limit") == 0)
        return parse_limit(q, value, error);
    if (strcmp(name, "only") == 0)
        return parse_only(q, value, error);
    if (strcmp(name, "board") == 0)
        return parse_board(q, value, error);
    if (strcmp(name, "bounds") == 0)
        return parse_bounds(q, value, error);
    if (strcmp(name, "phase") == 0)
        return parse_phase(q, value, error);
    return mst_fail(error, "there is no parameter \"%s\"; valid are format, with metrics also "
                    METRICS_OWN ", with format=journal also " JOURNALS_OWN,
                    quotable(buffer, name));
}

#define QUERY_MAX 512u   /* bytes of a query with its NUL: far more than a valid one has */

int mst_status_query_parse(struct mst_status_query *query, const char *text, const char *accept,
                           char error[MST_ERROR_MAX])
{
    char copy[QUERY_MAX], *rest = copy, *name;

    memset(query, 0, sizeof(*query));
    query->format = mst_format_accepted(accept);
    if (text != NULL && strlen(text) >= sizeof(copy))
        return mst_fail(error, "the query is too long; valid are format, with metrics also "
                        METRICS_OWN ", with format=journal also " JOURNALS_OWN);
    strcpy(copy, text == NULL ? "" : text);
    while ((name = strsep(&rest, "&")) != NULL) {
        char *value = name;

        if (*name == '\0')
            continue;
        strsep(&value, "=");
        if (parse_parameter(query, name, value == NULL ? "" : value, error) != 0)
            return -1;
    }
    if (query->format != MST_FORMAT_JOURNAL
        && (query->since[0] != '\0' || query->limit > 0 || query->lifecycle_only
            || query->board[0] != '\0'))
        return mst_fail(error, JOURNALS_OWN " are valid with format=journal only");
    if (!mst_format_is_metrics(query->format)
        && (query->histograms.bounds > 0 || query->histograms.phases > 0))
        return mst_fail(error, METRICS_OWN " are valid with metrics only: format=openmetrics, "
                        "prometheus or protobuf");
    if (query->limit == 0)
        query->limit = MST_JOURNAL_PAGE_MAX;
    return 0;
}

/* verb_status.c - mpmstat status: what servers do now and have done so far.
 *
 * Boards are read here and rendered by the library. A URL's server renders for
 * itself: its answer is checked to be whole and passed on as it is. In a terminal a
 * glance of ten lines is shown instead, of a URL from its JSON.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/target_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "console/output.h"
#include "memory/pool.h"
#include "render/negotiate.h"
#include "render/render.h"
#include "report/glance.h"
#include "source/http.h"
#include "source/status_json.h"
#include "source/target.h"

#define TIMEOUT_SECONDS_DEFAULT 10
#define TIMEOUT_SECONDS_MAX     3600

static const char help[] =
#include "tools/cli/help/status.inc"
    ;
#include "tools/cli/help/status.opt"

struct status {
    apr_pool_t        *pool;
    bool               brief;       /* a glance of each board; `format` is then JSON, for URLs */
    enum mst_format    format;
    char               finer[256];  /* of metrics, as in a status page's query: "&bounds=4" */
    struct mst_histograms_wanted histograms;   /* the same, for boards */
    long               timeout_ms;
    struct mst_targets targets;
    size_t             board_count, body_count;
    struct mst_snapshot     *boards;    /* of the files that could be read */
    struct mst_http_answer  *bodies;    /* of the URLs that answered */
    size_t             failed;
};

/* ---- boards --------------------------------------------------------------------- */

static int take_snapshot(struct mst_target *target, struct mst_snapshot *snapshot,
                         char error[MST_ERROR_MAX])
{
    struct mst_copy copy;
    int result = mst_target_snapshot(target, snapshot, &copy, error);

    if (result >= 0)
        mst_copy_free(&copy);
    mst_target_close(target);   /* or a directory of many would use up the descriptors */
    return result < 0 ? -1 : 0;
}

static int render_boards(const struct status *s, FILE *out)
{
    const struct mst_snapshot **boards = apr_palloc(s->pool, (s->board_count + 1) *
                                                             sizeof *boards);
    struct mst_sink sink;
    size_t i;

    for (i = 0; i < s->board_count; i++)
        boards[i] = &s->boards[i];
    mst_sink_init(&sink, mst_write_file, out);
    return mst_render(&sink, s->format, &(struct mst_shown){ .boards = boards,
                                                             .count = s->board_count,
                                                             .histograms = s->histograms });
}

/* ---- URLs ------------------------------------------------------------------------- */

static bool ends_with(const struct mst_http_answer *a, const char *end)
{
    size_t n = strlen(end);

    return a->length >= n && memcmp(a->body + a->length - n, end, n) == 0;
}

/* Text goes to a terminal, which obeys control characters. */
static bool has_control_characters(const struct mst_http_answer *a)
{
    size_t i;

    for (i = 0; i < a->length; i++)
        if (((unsigned char)a->body[i] < ' ' && a->body[i] != '\n') || a->body[i] == 0x7f)
            return true;
    return false;
}

/* Whether the answer is what was asked for, and whole. */
static int check_body(enum mst_format format, const char *url, const struct mst_http_answer *a,
                      char error[MST_ERROR_MAX])
{
    const char *type = mst_format_content_type(format), *problem = NULL;
    char reason[MST_ERROR_MAX], plain_type[64];
    json_t *root;

    snprintf(plain_type, sizeof plain_type, "%.*s", (int)strcspn(type, ";"), type);
    if (mst_http_expect_type(a, url, plain_type, error) != 0)
        return -1;
    if (format == MST_FORMAT_JSON) {
        root = mst_status_load(a->body, a->length, reason);
        if (root == NULL)
            problem = reason;
        json_decref(root);
    } else if (format == MST_FORMAT_OPENMETRICS && !ends_with(a, "# EOF\n")) {
        problem = "it does not end with # EOF";
    } else if (format == MST_FORMAT_TEXT && strncmp(a->body, "Board: ", 7) != 0) {
        problem = "expected it to begin with \"Board: \"";
    } else if (format == MST_FORMAT_PROMETHEUS && strncmp(a->body, "# ", 2) != 0) {
        problem = "expected it to begin with \"# HELP\"";
    } else if (has_control_characters(a)) {
        problem = "it holds control characters";
    } else if (!ends_with(a, "\n")) {
        problem = "it ends in the middle of a line";
    }
    if (problem == NULL)
        return 0;
    return mst_fail(error, "%.200s: this is not mpmstat's status: %.250s", url, problem);
}

static int fetch(struct status *s, const struct mst_target *target, char error[MST_ERROR_MAX])
{
    const char *url = target->name;
    struct mst_http *http = mst_have(mst_http_open(s->timeout_ms));
    struct mst_http_answer *body = &s->bodies[s->body_count];
    char query[64 + sizeof s->finer];
    int result;

    if (mst_http_set_access(http, &target->access) != 0)
        mst_out_of_memory();
    snprintf(query, sizeof query, "format=%s%s", mst_format_name(s->format), s->finer);
    result = mst_http_get(http, url, query, body, error);
    if (result == 0) {
        result = check_body(s->format, url, body, error);
        if (result == 0)
            s->body_count++;
        else
            mst_http_answer_free(body);
    }
    mst_http_close(http);
    return result;
}

/* The servers are not trusted, and their JSON goes to programs and to terminals. */
static int put_json(const char *json)
{
    struct mst_sink sink;

    mst_sink_init(&sink, mst_write_file, stdout);
    mst_sink_json(&sink, json);
    return mst_sink_flush(&sink);
}

static int put_body(const struct status *s, const struct mst_http_answer *a)
{
    if (s->format == MST_FORMAT_JSON)
        return put_json(a->body);
    mst_tame(a->body, a->length);
    return mst_write_file(stdout, a->body, a->length);
}

/* Appends a list of one document to the same of another. */
static int join_list(json_t *whole, json_t *more, const char *name)
{
    json_t *list = json_object_get(more, name);

    return list == NULL ? 0 : json_array_extend(json_object_get(whole, name), list);
}

/* One document from several: the boards of the files, then those of the URLs. */
static int join_json(const struct status *s)
{
    char error[MST_ERROR_MAX], *text;
    struct mst_stream rendered;
    json_t *whole = NULL, *more;
    size_t i;
    int result = render_boards(s, mst_stream_begin(&rendered));

    text = mst_stream_end(&rendered, s->pool);
    if (result == 0)
        whole = mst_status_load(text, strlen(text), error);
    result = whole != NULL ? 0 : -1;
    for (i = 0; i < s->body_count && result == 0; i++) {
        more = mst_status_load(s->bodies[i].body, s->bodies[i].length, error);
        result = more != NULL && join_list(whole, more, "boards") == 0 &&
                 join_list(whole, more, "unreadable") == 0 ? 0 : -1;
        json_decref(more);
    }
    if (result == 0) {
        text = mst_have(json_dumps(whole, JSON_INDENT(1) | JSON_REAL_PRECISION(17)));
        result = put_json(text);
        putchar('\n');
        free(text);
    }
    json_decref(whole);
    return result;
}

/* ---- a glance of each ------------------------------------------------------------------ */

static int glance_at_body(struct mst_sink *sink, const struct mst_http_answer *a, size_t *shown)
{
    struct mst_status status;
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_status_parse(&status, a->body, a->length, error) != 0) {
        mst_error("%s", error);
        return -1;
    }
    for (i = 0; i < status.count; i++) {
        mst_sink_puts(sink, (*shown)++ > 0 ? "\n" : "");
        mst_glance(sink, &status.boards[i]);
    }
    mst_status_free(&status);
    return 0;
}

static int glance(const struct status *s)
{
    struct mst_sink sink;
    size_t i, shown = 0;
    int result = 0;

    mst_sink_init(&sink, mst_write_file, stdout);
    for (i = 0; i < s->board_count; i++) {
        mst_sink_puts(&sink, shown++ > 0 ? "\n" : "");
        mst_glance(&sink, &s->boards[i]);
    }
    for (i = 0; i < s->body_count && result == 0; i++)
        result = glance_at_body(&sink, &s->bodies[i], &shown);
    return mst_sink_flush(&sink) != 0 ? -1 : result;
}

/* ---- together ----------------------------------------------------------------------- */

static void read_targets(struct status *s)
{
    char error[MST_ERROR_MAX];
    size_t i;
    int result;

    for (i = 0; i < s->targets.count; i++) {
        struct mst_target *t = &s->targets.items[i];

        if (t->kind == MST_TARGET_URL) {
            result = fetch(s, t, error);
        } else {
            result = take_snapshot(t, &s->boards[s->board_count], error);
            s->board_count += result == 0;
        }
        if (result != 0) {
            mst_error("%s", error);
            s->failed++;
        }
    }
}

static int show(const struct status *s)
{
    size_t i;
    int result = 0;

    if (s->board_count + s->body_count == 0)
        return MST_EXIT_TARGET;
    if (s->brief) {
        result = glance(s);
    } else if (s->format == MST_FORMAT_JSON && s->body_count > 0 &&
        s->board_count + s->body_count > 1) {
        result = join_json(s);
    } else {
        if (s->board_count > 0)
            result = render_boards(s, stdout);
        for (i = 0; i < s->body_count && result == 0; i++) {
            if (s->board_count + i > 0)
                putchar('\n');
            result = put_body(s, &s->bodies[i]);
        }
    }
    if (result != 0)
        return MST_EXIT_OUTPUT;
    return s->failed > 0 ? MST_EXIT_TARGET : MST_EXIT_OK;
}

/* Ten lines where a person reads, the keys where a program does, unless the user said which. */
enum amount { BY_TERMINAL, BRIEF, ALL };

static void choose_amount(struct status *s, enum amount amount)
{
    s->brief = amount == BRIEF || (amount == BY_TERMINAL && isatty(STDOUT_FILENO));
    if (s->brief)
        s->format = MST_FORMAT_JSON;
}

static int run(struct status *s, const struct mst_target_names *names)
{
    char error[MST_ERROR_MAX];
    size_t i, urls = 0;
    int result = MST_EXIT_TARGET;

    s->pool = mst_pool_new(NULL);
    if (mst_targets_find(&s->targets, names, error) != 0) {
        mst_error("%s", error);
        goto done;
    }
    if (s->targets.note[0] != '\0')
        mst_warn("%s", s->targets.note);
    for (i = 0; i < s->targets.count; i++)
        urls += s->targets.items[i].kind == MST_TARGET_URL;
    if (urls > 0 && s->targets.count > 1 && s->format != MST_FORMAT_TEXT &&
        s->format != MST_FORMAT_JSON) {
        result = mst_usage_error("status", "metrics of a URL cannot be joined with others; ask "
                                 "for one at a time, or for text or json");
        goto done;
    }
    s->boards = apr_pcalloc(s->pool, s->targets.count * sizeof *s->boards);
    s->bodies = apr_pcalloc(s->pool, s->targets.count * sizeof *s->bodies);
    read_targets(s);
    result = show(s);
done:
    for (i = 0; i < s->board_count; i++)
        mst_snapshot_free(&s->boards[i]);
    for (i = 0; i < s->body_count; i++)
        free(s->bodies[i].body);
    mst_targets_free(&s->targets);
    apr_pool_destroy(s->pool);
    return result;
}

/* ---- the command line ------------------------------------------------------------------ */

static int parse_timeout(const char *text, long *timeout_ms)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds >= 0.1 && seconds <= TIMEOUT_SECONDS_MAX))
        return mst_usage_error("status", "expected --timeout to be 0.1 to %d seconds, found "
                               "\"%s\"", TIMEOUT_SECONDS_MAX, text);
    *timeout_ms = (long)(seconds * 1000);
    return MST_EXIT_OK;
}

static int add_finer(struct status *s, const char *name, const char *value)
{
    size_t used = strlen(s->finer), room = sizeof s->finer - used;

    if (strpbrk(value, "&#% ") != NULL ||
        (size_t)snprintf(s->finer + used, room, "&%s=%s", name, value) >= room)
        return mst_usage_error("status", "expected a value for --%s, found \"%.80s\"", name, value);
    return MST_EXIT_OK;
}

/* As the status page does, so that both understand the same. */
static int parse_finer(struct status *s)
{
    struct mst_status_query query;
    char text[64 + sizeof s->finer], error[MST_ERROR_MAX];

    snprintf(text, sizeof text, "format=%s%s", mst_format_name(s->format), s->finer);
    if (mst_status_query_parse(&query, text, NULL, error) != 0)
        return mst_usage_error("status", "%s", error);
    s->histograms = query.histograms;
    return MST_EXIT_OK;
}

int mst_verb_status(int argc, char **argv)
{
    enum amount amount = BY_TERMINAL;
    struct mst_target_names names = { 0 };
    struct status s;
    char error[MST_ERROR_MAX];
    int option, wrong;

    memset(&s, 0, sizeof s);
    s.format = MST_FORMAT_TEXT;
    s.timeout_ms = TIMEOUT_SECONDS_DEFAULT * 1000L;
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1) {
        switch (option) {
        case MST_OPTION_ALL:
            amount = ALL;
            break;
        case MST_OPTION_BRIEF:
            amount = BRIEF;
            break;
        case MST_OPTION_FORMAT:
            if (mst_format_parse(&s.format, optarg, MST_FORMAT_SNAPSHOTS, error) != 0)
                return mst_usage_error("status", "%s", error);
            amount = ALL;
            break;
        case MST_OPTION_BOUNDS:
        case MST_OPTION_PHASE:
            wrong = add_finer(&s, option == MST_OPTION_BOUNDS ? "bounds" : "phase", optarg);
            if (wrong != MST_EXIT_OK)
                return wrong;
            break;
        case MST_OPTION_TIMEOUT:
            wrong = parse_timeout(optarg, &s.timeout_ms);
            if (wrong != MST_EXIT_OK)
                return wrong;
            break;
        case MST_OPTION_HELP:
            fputs(help, stdout);
            return MST_EXIT_OK;
        default:
            if (mst_target_option(&names, option, optarg))
                break;
            return mst_option_error("status", option, argv, options);
        }
    }
    choose_amount(&s, amount);
    wrong = parse_finer(&s);
    if (wrong != MST_EXIT_OK)
        return wrong;
    names.args = argv + optind;
    names.count = (size_t)(argc - optind);
    return run(&s, &names);
}

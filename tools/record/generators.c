/* generators.c - adds files of load generators' rows to a run: see generators.h.
 *
 * A file is read twice: first for its spans alone, by which it is decided whether it belongs to the
 * run and how its clock goes, then into the archive, in one transaction. So a file is in the
 * archive wholly or not at all, and memory grows with the number of its requests only by their
 * spans, 24 bytes each.
 */
#include "record/generators.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/query.h"
#include "archive/writer.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"
#include "base/siphash.h"
#include "console/diag.h"
#include "console/format.h"
#include "loadtools/loadtool.h"
#include "record/generator_clock.h"

#define INSTANT_MAX   (INT64_MAX / 4)          /* a row of another time is none */
#define FAR_NS        (10 * MST_NS_PER_S)      /* clocks of a network's machines are nearer */
#define FIRST_LINE    256u

struct import {
    struct mst_archive *archive;
    int64_t             run_id;
    struct mst_spans    servers;               /* the requests of the run's servers */
    size_t              added, left_out;       /* files */
};

/* A file, as the first reading found it. */
struct file {
    const char *path, *name;
    const struct mst_loadtool *tool;
    struct mst_archive_generator generator;
    struct mst_row_totals totals;
    struct mst_spans spans;
    bool   out_of_memory;
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- the server's side ----------------------------------------------------------- */

static bool add_span(struct mst_spans *s, uint64_t start_ns, uint64_t duration_ns, uint64_t id)
{
    if (start_ns > INSTANT_MAX || duration_ns > INSTANT_MAX)
        return true;
    if (!mst_grow(&s->items, &s->room, s->count, sizeof *s->items))
        return false;
    s->items[s->count++] = (struct mst_span){ (int64_t)start_ns,
                                              (int64_t)(start_ns + duration_ns), id };
    return true;
}

static bool read_spans(struct mst_spans *spans, sqlite3 *db, int64_t run_id, const char *sql)
{
    struct mst_query q = mst_query_ask(db, sql, run_id);
    bool fine = true;

    while (fine && mst_query_next(&q))
        fine = add_span(spans, mst_row_number(&q, "began"), mst_row_number(&q, "took_ns"),
                        mst_row_number(&q, "client_id"));
    return mst_query_done(&q) && fine;
}

/* Reads the spans of the servers' requests. Such a span begins after the request begins at the
 * client, and ends before it ends there: with the response's first byte, as the client can have the
 * last byte before the server notes that it is sent. The requests are those of the Apaches, which
 * see them first; without an Apache they are PHP's, up to the moment when PHP begins. */
static bool read_servers(struct import *i)
{
    sqlite3 *db = mst_archive_db(i->archive);

    if (!read_spans(&i->servers, db, i->run_id,
                    "SELECT start_ns AS began, queue_ns + read_ns + handle_ns AS took_ns, "
                    "client_id FROM server_requests WHERE ghost = 0 AND server_id IN "
                    "(SELECT id FROM servers WHERE run_id = :id)"))
        return false;
    return i->servers.count > 0 ||
           read_spans(&i->servers, db, i->run_id,
                      "SELECT start_ns - coalesce(wait_ns, 0) AS began, coalesce(wait_ns, 0) "
                      "AS took_ns, NULL AS client_id FROM php_requests WHERE ghost = 0 AND "
                      "server_id IN (SELECT id FROM servers WHERE run_id = :id)");
}

/* ---- a file ---------------------------------------------------------------------- */

/* Which file it is, by its content: a number that the archive can keep. */
static uint64_t hash_of(FILE *file)
{
    static const unsigned char key[MST_SIPHASH_KEY] = "mpmstat's rows";
    unsigned char block[65536 + sizeof(uint64_t)];
    uint64_t hash = 0;
    size_t n;

    while ((n = fread(block + sizeof hash, 1, sizeof block - sizeof hash, file)) > 0) {
        memcpy(block, &hash, sizeof hash);
        hash = mst_siphash(key, block, n + sizeof hash);
    }
    rewind(file);
    return hash & INT64_MAX;
}

static const struct mst_loadtool *tool_of(FILE *file)
{
    char line[FIRST_LINE] = "";

    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    rewind(file);
    return mst_loadtool_of_rows(line);
}

static int take_span(void *context, const struct mst_client_row *row)
{
    struct file *f = context;

    if (row->start_ns > INSTANT_MAX || row->duration_ns > INSTANT_MAX)
        return 0;
    mst_row_totals_add(&f->totals, row);
    f->out_of_memory = row->status != MST_NO_ANSWER &&
                       !add_span(&f->spans, row->start_ns, row->duration_ns, row->client_id);
    return f->out_of_memory;
}

/* 0, or -1 with a sentence. */
static int examine(struct file *f, FILE *file, char error[MST_ERROR_MAX])
{
    struct mst_archive_generator *g = &f->generator;

    f->tool = tool_of(file);
    if (f->tool == NULL)
        return mst_fail(error, "its first line is neither of k6 (--out csv= or json=) nor of "
                        "mpmstat's rows of Locust");
    g->file_hash = hash_of(file);
    if (mst_loadtool_read_rows(f->tool, file, 0, take_span, f, &g->said, error) < 0)
        return -1;
    rewind(file);
    if (f->out_of_memory)
        return mst_fail(error, "out of memory for its %" PRIu64 " requests", f->totals.rows);
    if (f->totals.rows == 0)
        return mst_fail(error, "there is no request in it");
    g->name = f->name;
    g->tool = f->tool->name;
    g->totals = &f->totals;
    return 0;
}

/* The same file twice would count each request twice. */
static int check_new(const struct import *i, const struct file *f, char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(i->archive),
        "SELECT name, run_id FROM generators WHERE file_hash = :id",
        (int64_t)f->generator.file_hash);
    int status = 0;

    if (mst_query_next(&q))
        status = mst_fail(error, "the same content is in run %lld already, as %.200s",
                          (long long)mst_row_id(&q, "run_id"), mst_row_text(&q, "name"));
    if (!mst_query_done(&q) && status == 0)
        return mst_archive_unreadable(i->archive, error);
    return status;
}

#define CLOCK_TEXT 96u

static void clock_text(char text[CLOCK_TEXT], const struct mst_generator_clock *o)
{
    uint64_t apart = mst_magnitude(o->ahead_ns);

    if (o->answer == MST_CLOCK_UNSURE)
        snprintf(text, CLOCK_TEXT, "its clock is taken as the server's");
    else if (apart == 0)
        snprintf(text, CLOCK_TEXT, "its clock is the server's within %s",
                 mst_format_time(o->uncertainty_ns).text);
    else
        snprintf(text, CLOCK_TEXT, "its clock is %s %s (within %s)",
                 mst_format_time(apart).text, o->ahead_ns > 0 ? "ahead" : "behind",
                 mst_format_time(o->uncertainty_ns).text);
}

/* 0, or -1 with a sentence: these are not requests of this run. */
static int find_clock(struct import *i, struct file *f, char error[MST_ERROR_MAX])
{
    struct mst_archive_generator *g = &f->generator;
    struct mst_generator_clock o;
    char clock[CLOCK_TEXT];

    if (!mst_generator_clock_find(&o, &f->spans, &i->servers, g->said.start_step_ns))
        return mst_fail(error, "out of memory for finding its clock");
    if (o.answer == MST_CLOCK_STRANGE)
        return mst_fail(error, "its requests do not belong to this run: with no clock offset do "
                        "they enclose the server's requests");
    g->clock_known = o.answer == MST_CLOCK_KNOWN;
    g->clock_ahead_ns = o.ahead_ns;
    g->clock_uncertainty_ns = o.uncertainty_ns;
    g->fitting_milli = o.looked_at > 0 ? o.fitting * 1000 / o.looked_at : 0;
    clock_text(clock, &o);
    mst_progress("%s: %" PRIu64 " requests of %s; %s; %" PRIu64 " %% of them enclose a request "
                 "of the server", f->name, f->totals.rows, f->tool->name, clock,
                 g->fitting_milli / 10);
    if (g->clock_known && mst_magnitude(o.ahead_ns) > FAR_NS)
        mst_warn("%s: clocks rarely are that far apart: make sure that the file is of this run",
                 f->name);
    return 0;
}

/* ---- into the archive ------------------------------------------------------------ */

struct insertion { struct import *import; int64_t generator_id, ahead_ns; };

static int take_row(void *context, const struct mst_client_row *row)
{
    const struct insertion *in = context;
    struct mst_client_row shifted = *row;

    if (row->start_ns > INSTANT_MAX || row->duration_ns > INSTANT_MAX)
        return 0;
    shifted.start_ns = (uint64_t)((int64_t)row->start_ns - in->ahead_ns);
    return mst_archive_add_generator_row(in->import->archive, in->import->run_id,
                                         in->generator_id, &shifted);
}

static int insert(struct import *i, const struct file *f, FILE *file, char error[MST_ERROR_MAX])
{
    struct insertion in = { .import = i, .ahead_ns = f->generator.clock_ahead_ns };
    struct mst_rows_said ignored;

    if (mst_archive_add_generator(i->archive, i->run_id, &f->generator, &in.generator_id) == 0 &&
        mst_loadtool_read_rows(f->tool, file, 0, take_row, &in, &ignored, error) >= 0)
        return mst_archive_commit(i->archive);
    mst_archive_undo(i->archive);   /* its failure is the archive's error */
    return -1;
}

static void say_rest(const struct file *f)
{
    const struct mst_rows_said *said = &f->generator.said;

    if (said->bad > 0)
        mst_warn("%s: %" PRIu64 " lines are not rows and were left out%s", f->name, said->bad,
                 said->bad == 1 ? ": its generator was killed, or writes still" : "");
    if (said->end == MST_ROWS_CUT_SHORT)
        mst_warn("%s: its generator did not end by itself: what it did last is not in there",
                 f->name);
}

/* MST_EXIT_OK, also where the file was left out. */
static int import_file(struct import *i, const char *path)
{
    struct file f = { .path = path, .name = name_of(path) };
    FILE *file = fopen(path, "re");
    char error[MST_ERROR_MAX] = "";
    int status = MST_EXIT_OK;

    if (file == NULL) {
        mst_fail(error, "%s", strerror(errno));
    } else if (examine(&f, file, error) == 0 && check_new(i, &f, error) == 0 &&
             find_clock(i, &f, error) == 0 && insert(i, &f, file, error) == 0) {
        say_rest(&f);
        i->added++;
    } else if (mst_archive_error(i->archive)[0] != '\0') {
        status = mst_failed(MST_EXIT_OUTPUT, "%s", mst_archive_error(i->archive));
    }
    if (error[0] != '\0') {
        mst_error("%s is left out: %s", path, error);
        i->left_out++;
    }
    if (file != NULL)
        fclose(file);
    free(f.spans.items);
    return status;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int import_directory(struct import *i, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, alphasort), at, status = MST_EXIT_OK;
    char *file;

    if (count < 0)
        return mst_failed(MST_EXIT_TARGET, "cannot read the directory %s: %s", path,
                          strerror(errno));
    if (count == 0) {
        mst_error("there is no file in the directory %s", path);
        i->left_out++;
    }
    for (at = 0; at < count; at++) {
        if (status == MST_EXIT_OK && asprintf(&file, "%s/%s", path, entries[at]->d_name) < 0) {
            status = mst_failed(MST_EXIT_OUTPUT, "out of memory for the names in %s", path);
        } else if (status == MST_EXIT_OK) {
            status = import_file(i, file);
            free(file);
        }
        free(entries[at]);
    }
    free(entries);
    return status;
}

/* ---- the run --------------------------------------------------------------------- */

/* Rows that the run's own load tool wrote would be counted beside those of the files. */
static int check_run(struct import *i)
{
    struct mst_query q = mst_query_ask(mst_archive_db(i->archive),
        "SELECT tool, EXISTS (SELECT 1 FROM client_requests WHERE run_id = :id AND generator_id IS "
        "NULL) AS has_rows FROM runs WHERE id = :id", i->run_id);
    int status = MST_EXIT_OK;

    if (mst_query_next(&q) && mst_row_number(&q, "has_rows") == 1)
        status = mst_failed(MST_EXIT_BAD, "run %lld has the single requests of %s already: files "
                            "are added to a run whose load tool mpmstat did not read",
                            (long long)i->run_id, mst_row_text(&q, "tool"));
    if (!mst_query_done(&q) && status == MST_EXIT_OK)
        status = MST_EXIT_TARGET;
    return status;
}

/* All rows of the run together. */
static bool sum_up(struct import *i, struct mst_row_totals *t, struct mst_plan *plan,
                   const char **tool)
{
    static const struct { const char *name; } kinds[MST_FAILURE_COUNT] = {
        [MST_FAILURE_CONNECT] = { "connects" }, [MST_FAILURE_RECEIVE] = { "receives" },
        [MST_FAILURE_TIMEOUT] = { "timeouts" }, [MST_FAILURE_OTHER] = { "others" },
    };
    struct mst_query rows = mst_query_ask(mst_archive_db(i->archive),
        "SELECT count(*) AS requests, sum(status IS 0) AS failed, sum(status IS NULL) AS unknown, "
        "sum(status IS NOT 0 AND status IS NOT NULL AND (status < 200 OR status > 299)) AS "
        "non_2xx, sum(CASE WHEN status IS 0 THEN 0 ELSE duration_ns END) AS answered_ns, "
        "max(CASE WHEN status IS 0 THEN 0 ELSE duration_ns END) AS max_ns, min(start_ns) AS "
        "first_ns, max(start_ns + duration_ns) AS last_ns FROM client_requests WHERE run_id = :id",
        i->run_id);
    struct mst_query files = mst_query_ask(mst_archive_db(i->archive),
        "SELECT sum(failed_connect) AS connects, sum(failed_receive) AS receives, "
        "sum(failed_timeout) AS timeouts, sum(failed_other) AS others, max(start_step_ns) AS step, "
        "min(tool) = max(tool) AS alike, min(tool) AS tool FROM generators WHERE run_id = :id",
        i->run_id);
    bool fine = mst_query_next(&rows) && mst_query_next(&files);
    int k;

    if (fine) {
        *t = (struct mst_row_totals){
            .rows = mst_row_number(&rows, "requests"), .failed = mst_row_number(&rows, "failed"),
            .non_2xx = mst_row_number(&rows, "non_2xx"),
            .answered_ns = mst_row_number(&rows, "answered_ns"),
            .max_ns = mst_row_number(&rows, "max_ns"),
            .first_start_ns = mst_row_number(&rows, "first_ns"),
            .last_end_ns = mst_row_number(&rows, "last_ns"),
            .status_unknown = mst_row_number(&rows, "unknown") > 0,
        };
        for (k = 0; k < MST_FAILURE_COUNT; k++)
            t->failures[k] = mst_row_number(&files, kinds[k].name);
        plan->row_start_step_ns = mst_row_number(&files, "step");
        *tool = mst_row_number(&files, "alike") != 1 ? "load tools" :
                strcmp(mst_row_text(&files, "tool"), mst_loadtool_k6.name) == 0 ?
                mst_loadtool_k6.name : mst_loadtool_locust_rows.name;
    }
    fine = mst_query_done(&rows) && fine;
    return mst_query_done(&files) && fine;
}

/* The run's results are those of all its generators. */
static int renew_result(struct import *i)
{
    struct mst_plan plan = {
        .rows = MST_ROWS_AT_PATH, .row_time_step_ns = 1, .requested = MST_UNKNOWN,
        .concurrency = MST_UNKNOWN, .connections = MST_UNKNOWN, .threads = MST_UNKNOWN,
    };
    struct mst_client_result result;
    struct mst_row_totals totals;
    const char *tool;

    if (!sum_up(i, &totals, &plan, &tool))
        return mst_failed(MST_EXIT_OUTPUT, "cannot add up the rows in the archive");
    mst_client_result_from_rows(&result, &mst_loadtool_k6, &plan, &totals, false);
    result.unfinished = MST_UNKNOWN;
    if (mst_archive_replace_client_result(i->archive, i->run_id, tool, &result, &plan) != 0 ||
        mst_archive_commit(i->archive) != 0)
        return mst_failed(MST_EXIT_OUTPUT, "%s", mst_archive_error(i->archive));
    return MST_EXIT_OK;
}

static int import_all(struct import *i, const struct mst_generator_import *import)
{
    struct stat st;
    int status = check_run(i);
    size_t n;

    if (status == MST_EXIT_OK && !read_servers(i))
        status = mst_failed(MST_EXIT_TARGET, "cannot read the run's requests");
    if (status == MST_EXIT_OK && i->servers.count == 0)
        status = mst_failed(MST_EXIT_BAD, "the run has no request of a server, by which the "
                            "generators' clocks could be known");
    for (n = 0; n < import->count && status == MST_EXIT_OK; n++) {
        if (stat(import->paths[n], &st) == 0 && S_ISDIR(st.st_mode))
            status = import_directory(i, import->paths[n]);
        else
            status = import_file(i, import->paths[n]);
    }
    if (status == MST_EXIT_OK && i->added > 0)
        status = renew_result(i);
    return status == MST_EXIT_OK && i->left_out > 0 ? MST_EXIT_BAD : status;
}

int mst_generators_import(const struct mst_generator_import *import)
{
    struct import i = { .run_id = import->run_id };
    char error[MST_ERROR_MAX];
    int status;

    i.archive = mst_archive_create(import->archive, mst_tell, error);
    if (i.archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    status = import_all(&i, import);
    free(i.servers.items);
    if (mst_archive_close(i.archive, error) != 0 && status != MST_EXIT_OUTPUT)
        status = mst_failed(MST_EXIT_OUTPUT, "%s", error);
    return status;
}

/* compare_runs.c - finds and reads the runs of a comparison: see compare_runs.h. */
#include "analysis/compare_runs.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ledger_rows.h"
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"

/* ---- which runs ------------------------------------------------------------------ */

/* Returns FILE of FILE#RUN, and sets *selected to RUN; NULL: all runs. The names of files and runs
 * may have a '#', too. The whole text is FILE where such a file exists. Else FILE is the shortest
 * beginning before a '#' that exists as a file, or the one before the first '#' where none does. */
static const char *split(apr_pool_t *pool, const char *given, const char **selected)
{
    const char *first = access(given, F_OK) == 0 ? NULL : strchr(given, '#'), *mark;
    const char *path;

    *selected = NULL;
    for (mark = first; mark != NULL; mark = strchr(mark + 1, '#')) {
        path = apr_pstrmemdup(pool, given, (size_t)(mark - given));
        if (access(path, F_OK) == 0)
            break;
    }
    if (first == NULL)
        return given;
    mark = mark != NULL ? mark : first;
    *selected = mark + 1;
    return apr_pstrmemdup(pool, given, (size_t)(mark - given));
}

/* Whether the archive's runs are repetitions of one thing, as far as names tell. */
static bool has_one_name(struct mst_archive *archive, char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(archive),
        "SELECT group_concat(name, '\", \"') AS names, count(*) AS count FROM "
        "(SELECT DISTINCT coalesce(name, '(none)') AS name FROM runs WHERE id >= :id)", 0);
    bool one = false;

    if (mst_query_next(&q)) {
        one = mst_row_number(&q, "count") <= 1;
        if (!one)
            snprintf(error, MST_ERROR_MAX, "%s has runs of several names (\"%.300s\"): say which "
                     "with FILE#NAME, or FILE#NUMBER", mst_archive_path(archive),
                     mst_row_text(&q, "names"));
    }
    if (!mst_query_done(&q))
        one = mst_archive_unreadable(archive, error) == 0;
    return one;
}

void mst_compare_run_names(struct mst_archive *archive, char names[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(archive),
        "SELECT group_concat(name, '\", \"') AS names FROM (SELECT name FROM runs "
        "WHERE id >= :id AND name IS NOT NULL GROUP BY name ORDER BY min(id) LIMIT 20)", 0);
    const char *text = mst_query_next(&q) ? mst_row_text(&q, "names") : NULL;

    if (text != NULL)
        snprintf(names, MST_ERROR_MAX, "; it has runs called \"%.400s\"", text);
    else
        snprintf(names, MST_ERROR_MAX, "; its runs have no names: select them by number, "
                 "from 1 on");
    mst_query_done(&q);
}

/* The most frequent first. */
#define NO_SUCCESS "AND (status < 200 OR status > 299) GROUP BY status ORDER BY n DESC LIMIT 1"

/* ---- one run --------------------------------------------------------------------- */

static void append(apr_pool_t *pool, const char **text, const char *word)
{
    *text = *text == NULL || (*text)[0] == '\0' ? apr_pstrdup(pool, word)
                                                : apr_pstrcat(pool, *text, " ", word, NULL);
}

/* Whether the word is how many requests the load tool has to make. */
static bool is_requested(const struct mst_compare_run *run, const char *word)
{
    char number[32];

    snprintf(number, sizeof number, "%" PRIu64, run->summary.client.requested);
    return run->summary.client.requested != MST_UNKNOWN && strcmp(word, number) == 0;
}

/* What differs from run to run without changing the load: where it goes, how long it takes, and the
 * descriptor that its rows go to. */
static void read_command(apr_pool_t *pool, struct mst_compare_run *run)
{
    json_t *words = json_loads(run->summary.command_json, 0, NULL), *word;
    const char *text;
    size_t i;

    run->urls = "";
    json_array_foreach(words, i, word) {
        text = json_string_value(word);
        if (text == NULL)
            continue;
        if (strstr(text, "://") != NULL)
            append(pool, &run->urls, text);
        append(pool, &run->load, strstr(text, "://") != NULL ? "URL" :
               strncmp(text, "/dev/fd/", 8) == 0 ? "/dev/fd/N" :
               is_requested(run, text) ? "N" : text);
    }
    json_decref(words);
}

static bool read_status(struct mst_compare_run *run, struct mst_archive *archive)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    struct mst_query q;

    run->status = MST_UNKNOWN;
    if (front == NULL || front->non_2xx == 0)
        return true;
    q = mst_query_ask(mst_archive_db(archive), mst_summary_is_php(front) ?
        "SELECT status, count(*) AS n " MST_FROM_PHPS_REQUESTS NO_SUCCESS :
        "SELECT status, count(*) AS n " MST_FROM_APACHES_REQUESTS NO_SUCCESS, front->id);
    if (mst_query_next(&q))
        run->status = mst_row_number(&q, "status");
    return mst_query_done(&q);
}

const char *mst_compare_setting(const struct mst_compare_run *run, const char *name)
{
    size_t i;

    for (i = 0; i < run->setting_count; i++)
        if (strcmp(run->settings[i].name, name) == 0)
            return run->settings[i].value;
    return NULL;
}

/* Leaves out the load average: it is of the minutes before, and no two are the same; and the
 * blanks at the end of a process's title. */
static bool read_settings(apr_pool_t *pool, struct mst_compare_run *run,
                          struct mst_archive *archive)
{
    struct mst_query q = mst_query_ask(mst_archive_db(archive),
        "SELECT name, rtrim(ifnull(value, '')) AS value FROM environment WHERE run_id = :id AND "
        "name <> 'load_average' ORDER BY name", run->summary.id);
    struct mst_compare_setting *setting;
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        setting = mst_pool_append(pool, &run->settings, &run->setting_count, sizeof *setting);
        setting->name = apr_pstrdup(pool, mst_row_text(&q, "name"));
        setting->value = apr_pstrdup(pool, mst_row_text(&q, "value"));
        fine = setting->name != NULL && setting->value != NULL;
    }
    return mst_query_done(&q) && fine;
}

/* Of the files: a name or a value that is too long is cut, on both sides alike. */
static bool read_configured_of(apr_pool_t *pool, struct mst_compare_run *run, sqlite3 *db,
                               const struct mst_summary_server *server)
{
    struct mst_query q = mst_query_ask(db, "SELECT section, name, value FROM settings WHERE "
        "server_id = :id ORDER BY section, name LIMIT 1000", server->id);
    struct mst_ledger_setting *setting;

    while (mst_query_next(&q)) {
        setting = mst_pool_append(pool, &run->configured, &run->configured_count, sizeof *setting);
        mst_row_copy(&q, "section", setting->section, sizeof setting->section);
        mst_row_copy(&q, "name", setting->name, sizeof setting->name);
        mst_row_copy(&q, "value", setting->value, sizeof setting->value);
    }
    return mst_query_done(&q);
}

static bool read_configured(apr_pool_t *pool, struct mst_compare_run *run, sqlite3 *db)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    const struct mst_summary_server *php = mst_summary_behind(&run->summary);

    return (front == NULL || read_configured_of(pool, run, db, front)) &&
           (php == NULL || php == front || read_configured_of(pool, run, db, php));
}

static int read_load(apr_pool_t *pool, struct mst_compare_run *run, struct mst_archive *archive,
                     char error[MST_ERROR_MAX])
{
    sqlite3 *db = mst_archive_db(archive);

    read_command(pool, run);
    if (read_status(run, archive) && read_settings(pool, run, archive) &&
        read_configured(pool, run, db) &&
        mst_ledger_read(pool, db, run->summary.id, &run->predictions, &run->prediction_count))
        return 0;
    return mst_fail(error, "cannot read run %" PRId64 " of the archive %s", run->summary.id,
                    mst_archive_path(archive));
}

static int add_run(struct mst_compare_side *side, int64_t id, uint64_t repetition,
                   char error[MST_ERROR_MAX])
{
    struct mst_compare_run *run = mst_pool_append(side->pool, &side->runs, &side->count,
                                                  sizeof *run);

    run->repetition = repetition;
    if (mst_summary_make(&run->summary, side->archive, id, error) != 0)
        return -1;
    return read_load(side->pool, run, side->archive, error);
}

int mst_compare_side_lend(struct mst_compare_side *side, struct mst_archive *archive,
                          const struct mst_summary *summary, char error[MST_ERROR_MAX])
{
    struct mst_compare_run *run;

    if (!summary->complete) {
        side->incomplete++;
        return 0;
    }
    run = mst_pool_append(side->pool, &side->runs, &side->count, sizeof *run);
    run->summary = *summary;
    run->lent = true;
    run->repetition = summary->repetition;
    return read_load(side->pool, run, archive, error);
}

/* ---- a side ---------------------------------------------------------------------- */

static int add_runs(struct mst_compare_side *side, const char *selected,
                    char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(side->archive),
        "SELECT id, complete, repetition FROM runs WHERE :id OR name = :selected OR "
        "CAST(id AS TEXT) = :selected ORDER BY started_ns, id", selected == NULL);
    int status = 0;

    mst_query_set_text(&q, ":selected", selected != NULL ? selected : "");
    while (status == 0 && mst_query_next(&q)) {
        if (mst_row_number(&q, "complete") != 1)
            side->incomplete++;
        else
            status = add_run(side, mst_row_id(&q, "id"), mst_row_number(&q, "repetition"), error);
    }
    if (!mst_query_done(&q) && status == 0)
        status = mst_archive_unreadable(side->archive, error);
    return status;
}

static void no_such_run(struct mst_archive *archive, const char *selected,
                        char error[MST_ERROR_MAX])
{
    char names[MST_ERROR_MAX] = "";

    if (selected == NULL) {
        snprintf(error, MST_ERROR_MAX, "there is no run in %s", mst_archive_path(archive));
        return;
    }
    mst_compare_run_names(archive, names);
    mst_fail(error, "there is no run \"%s\" in %s%s", selected, mst_archive_path(archive), names);
}

int mst_compare_side_read(apr_pool_t *pool, struct mst_compare_side *side, const char *given,
                          char error[MST_ERROR_MAX])
{
    const char *selected;

    *side = (struct mst_compare_side){ .pool = pool, .given = given };
    side->archive = mst_archive_read(split(pool, given, &selected), error);
    if (side->archive == NULL || (selected == NULL && !has_one_name(side->archive, error)) ||
        add_runs(side, selected, error) != 0)
        return -1;
    if (side->count > 0)
        return 0;
    if (side->incomplete > 0)
        snprintf(error, MST_ERROR_MAX, "no run of %s came to its end: there is nothing to compare",
                 given);
    else
        no_such_run(side->archive, selected, error);
    return -1;
}

static void free_summary(struct mst_compare_run *run)
{
    if (!run->lent)
        mst_summary_free(&run->summary);
}

void mst_compare_side_close(struct mst_compare_side *side)
{
    char ignored[MST_ERROR_MAX];
    size_t i;

    for (i = 0; i < side->count; i++)
        free_summary(&side->runs[i]);
    mst_archive_close(side->archive, ignored);
}

/* ---- pairs ----------------------------------------------------------------------- */

static uint64_t start_of(const struct mst_compare_side *side, size_t i)
{
    return i < side->count ? side->runs[i].summary.started_ns : UINT64_MAX;
}

/* No other run of either side began between the two. */
static bool are_neighbours(const struct mst_compare_side *a, size_t i,
                           const struct mst_compare_side *b, size_t k)
{
    return a->runs[i].repetition == b->runs[k].repetition &&
           start_of(a, i + 1) > start_of(b, k) && start_of(b, k + 1) > start_of(a, i);
}

/* Finds the pairs: their indices in pairs[0] and pairs[1], which have room for all. */
static size_t find_pairs(const struct mst_compare_side *a, const struct mst_compare_side *b,
                         size_t *pairs[2])
{
    size_t i = 0, k = 0, count = 0;

    while (i < a->count && k < b->count) {
        if (are_neighbours(a, i, b, k)) {
            pairs[0][count] = i++;
            pairs[1][count++] = k++;
        } else if (start_of(a, i) < start_of(b, k)) {
            i++;
        } else {
            k++;
        }
    }
    return count;
}

static void keep_only(struct mst_compare_side *side, const size_t *kept, size_t count)
{
    size_t i, next = 0;

    for (i = 0; i < side->count; i++) {
        if (next < count && kept[next] == i)
            side->runs[next++] = side->runs[i];
        else
            free_summary(&side->runs[i]);
    }
    side->unpaired = side->count - count;
    side->count = count;
}

bool mst_compare_pair(struct mst_compare_side *a, struct mst_compare_side *b)
{
    size_t *pairs[2] = { apr_pcalloc(a->pool, a->count * sizeof(size_t)),
                         apr_pcalloc(a->pool, b->count * sizeof(size_t)) };
    size_t count = find_pairs(a, b, pairs), fewer = a->count < b->count ? a->count : b->count;
    bool paired = count >= MST_COMPARE_PAIRS_MIN && count + 1 >= fewer;

    if (paired) {
        keep_only(a, pairs[0], count);
        keep_only(b, pairs[1], count);
    }
    return paired;
}

/* ledger_rows.c - predictions in an archive: see ledger_rows.h. */
#include "analysis/ledger_rows.h"

#include <string.h>

#include "analysis/finding.h"
#include "archive/query.h"
#include "archive/writer.h"
#include "memory/pool.h"
#include "segment/format.h"

static const char *const measure_names[MST_LEDGER_MEASURES] = {
    [MST_LEDGER_RATE] = "requests_per_1000s", [MST_LEDGER_P50] = "p50_ns",
    [MST_LEDGER_P95] = "p95_ns",
};

/* ---- reading ----------------------------------------------------------------------- */

/* Of a run that has more changes than that, the latest ones are read. */
#define LATEST "(SELECT DISTINCT number FROM predictions WHERE run_id = :id " \
               "ORDER BY number DESC LIMIT 100)"

struct entries {
    apr_pool_t *pool;
    struct mst_ledger_entry *items;
    size_t count;
};

static bool is_by_somebody(const char *code)
{
    return strcmp(code, MST_LEDGER_BY_USER) == 0 || mst_code_of(code) != MST_CODE_COUNT;
}

/* The entry of the query's row: the latest one, or a new one. NULL: there is no such entry. */
static struct mst_ledger_entry *entry_of(struct entries *all, struct mst_query *q)
{
    struct mst_ledger_entry e = {
        .number = mst_row_number(q, "number"), .clients = mst_row_number(q, "clients"),
        .load_milli = mst_row_number(q, "load_per_1000s"),
        .by_client = mst_row_number(q, "by_client") == 1,
    }, *added;
    size_t i;

    if (all->count > 0 && all->items[all->count - 1].number == e.number)
        return &all->items[all->count - 1];
    mst_row_copy(q, "code", e.code, sizeof e.code);
    if (e.number == MST_UNKNOWN || !is_by_somebody(e.code) ||
        (e.clients == MST_UNKNOWN) == (e.load_milli == MST_UNKNOWN))
        return NULL;
    for (i = 0; i < MST_LEDGER_MEASURES; i++)
        e.values[i] = (struct mst_ledger_value){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN };
    added = mst_pool_append(all->pool, &all->items, &all->count, sizeof *added);
    *added = e;
    return added;
}

static void take_value(struct mst_ledger_entry *e, struct mst_query *q)
{
    const struct mst_ledger_value value = { mst_row_number(q, "predicted"),
                                            mst_row_number(q, "low"), mst_row_number(q, "high") };
    const char *measure = mst_row_text(q, "measure");
    size_t i;

    if (measure == NULL || value.high > MST_LEDGER_VALUE_MOST || value.low == 0 ||
        value.low > value.predicted || value.predicted > value.high)
        return;
    for (i = 0; i < MST_LEDGER_MEASURES; i++)
        if (strcmp(measure, measure_names[i]) == 0)
            e->values[i] = value;
}

static bool read_values(struct entries *all, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT number, code, clients, load_per_1000s, "
        "by_client, measure, predicted, low, high FROM predictions WHERE run_id = :id AND "
        "number IN " LATEST " ORDER BY number, measure", run_id);
    struct mst_ledger_entry *e;

    while (mst_query_next(&q)) {
        e = entry_of(all, &q);
        if (e != NULL)
            take_value(e, &q);
    }
    return mst_query_done(&q);
}

/* An entry is no prediction where not all of its settings are known. */
static void spoil(struct mst_ledger_entry *e)
{
    size_t i;

    for (i = 0; i < MST_LEDGER_MEASURES; i++)
        e->values[i].predicted = MST_UNKNOWN;
}

static bool read_settings(struct entries *all, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT number, section, name, value FROM "
        "predicted_settings WHERE run_id = :id AND number IN " LATEST " ORDER BY number, rowid",
        run_id);
    uint64_t number;
    size_t i = 0;

    while (mst_query_next(&q)) {
        number = mst_row_number(&q, "number");
        while (i < all->count && all->items[i].number < number)
            i++;
        if (i < all->count && all->items[i].number == number &&
            !mst_ledger_add_setting(&all->items[i], mst_row_text(&q, "section"),
                                    mst_row_text(&q, "name"), mst_row_text(&q, "value")))
            spoil(&all->items[i]);
    }
    return mst_query_done(&q);
}

static bool predicts(const struct mst_ledger_entry *e)
{
    size_t i;

    for (i = 0; i < MST_LEDGER_MEASURES; i++)
        if (e->values[i].predicted != MST_UNKNOWN)
            return true;
    return false;
}

bool mst_ledger_read(apr_pool_t *pool, sqlite3 *db, int64_t run_id,
                     struct mst_ledger_entry **entries, size_t *count)
{
    struct entries all = { .pool = pool };
    size_t i;

    *entries = NULL;
    *count = 0;
    if (!read_values(&all, db, run_id) || !read_settings(&all, db, run_id))
        return false;
    *entries = all.items;
    for (i = 0; i < all.count; i++)
        if (predicts(&all.items[i]))
            all.items[(*count)++] = all.items[i];
    return true;
}

/* ---- writing ----------------------------------------------------------------------- */

static int add(struct mst_archive *a, int64_t run_id, const struct mst_ledger_entry *e,
               uint64_t number)
{
    struct mst_archive_prediction p = {
        .number = number, .code = e->code, .clients = e->clients,
        .load_per_1000s = e->load_milli, .by_client = e->by_client,
    };
    int status = 0;
    size_t i;

    for (i = 0; i < MST_LEDGER_MEASURES && status == 0; i++) {
        if (e->values[i].predicted == MST_UNKNOWN)
            continue;
        p.measure = measure_names[i];
        p.predicted = e->values[i].predicted;
        p.low = e->values[i].low;
        p.high = e->values[i].high;
        status = mst_archive_add_prediction(a, run_id, &p);
    }
    for (i = 0; i < e->setting_count && status == 0; i++)
        status = mst_archive_add_predicted_setting(a, run_id, number, e->settings[i].section,
                                                   e->settings[i].name, e->settings[i].value);
    return status;
}

/* The archive's own: of a change that was predicted before. */
static bool is_older(const struct mst_ledger_entry *kept, const struct mst_ledger_entry *e)
{
    return strcmp(kept->code, e->code) == 0 && mst_ledger_are_same(kept, e) &&
           kept->clients == e->clients && kept->load_milli == e->load_milli;
}

/* Removes the entries of the same change, or, where e is NULL, all that findings made. */
static int remove_entries(struct mst_archive *a, int64_t run_id, const struct mst_ledger_entry *e)
{
    apr_pool_t *pool = mst_pool_new(NULL);
    struct mst_ledger_entry *kept;
    size_t count, i;
    int status = mst_ledger_read(pool, mst_archive_db(a), run_id, &kept, &count) ? 0 : -1;

    for (i = 0; i < count && status == 0; i++)
        if (e != NULL ? is_older(&kept[i], e) : strcmp(kept[i].code, MST_LEDGER_BY_USER) != 0)
            status = mst_archive_clear_prediction(a, run_id, kept[i].number);
    apr_pool_destroy(pool);
    return status;
}

int mst_ledger_write(struct mst_archive *a, int64_t run_id, const struct mst_ledger_entry *e)
{
    uint64_t last = 0;
    struct mst_query q;

    if (remove_entries(a, run_id, e) != 0)
        return -1;
    q = mst_query_ask(mst_archive_db(a), "SELECT coalesce(max(number), 0) AS number FROM "
                      "predictions WHERE run_id = :id", run_id);
    if (mst_query_next(&q))
        last = mst_row_number(&q, "number");
    return mst_query_done(&q) ? add(a, run_id, e, last + 1) : -1;
}

int mst_ledger_forget_advice(struct mst_archive *a, int64_t run_id)
{
    return remove_entries(a, run_id, NULL);
}

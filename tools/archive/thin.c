/* thin.c - makes a thinned copy of an archive: see thin.h.
 *
 * Rows are read in the order in which they were written. That is by time, but for a little: so it
 * is enough to have in memory the present minute of each server. A row that comes after its minute
 * is over stands for itself.
 */
#include "archive/thin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/internal.h"
#include "archive/query.h"
#include "archive/thin_subjects.h"
#include "base/array.h"
#include "base/clock.h"
#include "segment/fields.h"

/* ---- minutes --------------------------------------------------------------------------- */

/* The largest values of an owner's rows in a minute, of PHP's by pool (label), and which rows have
 * them. */
struct largest {
    int      side;
    uint64_t label, value[MST_THIN_MAXIMA];
    size_t   row[MST_THIN_MAXIMA];
};

/* The present minute of an owner. */
struct minute {
    uint64_t             key, number;     /* minutes since 1970 */
    struct mst_thin_row *rows;
    size_t               count, room;
    struct largest      *largest;
    size_t               largest_count, largest_room;
};

/* Copies single rows of a table. */
struct copier {
    sqlite3_stmt     *from;
    struct mst_copier to;
};

struct thinning {
    struct mst_archive *from, *to;
    const volatile sig_atomic_t *stop;
    const struct mst_thin_subject *subject;
    struct copier   copiers[MST_THIN_SIDES], waits;
    struct minute  *minutes;
    size_t          minute_count, minute_room, at;   /* at: the latest that was used */
    int64_t         last_rowid;    /* of the query's latest row: its first side */
    unsigned char  *joined;        /* bits by rowid: requests of PHP's that belong to Apache's */
    int64_t         joined_max;
    uint64_t        random;
    char           *error;
};

static bool failed(struct thinning *t)
{
    if (t->error[0] == '\0')
        mst_fail(t->error, "cannot thin the archive %s: %s", mst_archive_path(t->from),
                 t->from->guard.problem[0] != '\0' ? t->from->guard.problem :
                 mst_archive_reason(t->to->db));
    return false;
}

static bool no_memory(struct thinning *t)
{
    mst_fail(t->error, "out of memory to thin the archive %s", mst_archive_path(t->from));
    return false;
}

/* FNV-1a, over values that tell cells apart. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (; size > 0; size--)
        hash = (hash ^ *at++) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    return mix(hash, &number, sizeof number);
}

#define MIX_BEGIN UINT64_C(14695981039346656037)

/* ---- copying --------------------------------------------------------------------------- */

static void end_copier(struct copier *c)
{
    sqlite3_finalize(c->from);
    c->from = NULL;
    mst_copier_end(&c->to);
}

/* Copies the rows of a table that `which` picks, a condition with one parameter. */
static bool begin_copier(struct thinning *t, struct copier *c, const char *table,
                         const char *which)
{
    const struct mst_copied_rows rows = { .table = table, .rows = which };
    bool fine = mst_copier_begin(&c->to, t->to->db, &rows);

    if (fine &&
        sqlite3_prepare_v2(t->from->db, c->to.select, -1, &c->from, NULL) != SQLITE_OK) {
        mst_guard_note(&t->from->guard, sqlite3_errcode(t->from->db));
        fine = false;
    }
    return fine || failed(t);
}

/* Weight 0: as it is. */
static bool copy(struct thinning *t, const struct copier *c, int64_t id, uint64_t weight)
{
    int status = SQLITE_OK;
    bool fine = true;

    sqlite3_bind_int64(c->from, 1, id);
    while (fine && *t->stop == 0 && (status = sqlite3_step(c->from)) == SQLITE_ROW)
        fine = mst_copier_row(&c->to, c->from, weight);
    if (fine && status != SQLITE_DONE) {
        mst_guard_note(&t->from->guard, status);
        fine = false;
    }
    sqlite3_reset(c->from);
    return fine || failed(t);
}

static bool is_thinned(const char *table)
{
    size_t i;
    int side;

    for (i = 0; i < mst_thin_subject_count; i++)
        for (side = 0; side < MST_THIN_SIDES; side++)
            if (mst_thin_subjects[i].tables[side] != NULL &&
                strcmp(mst_thin_subjects[i].tables[side], table) == 0)
                return true;
    return strcmp(table, "php_waits") == 0;   /* with their requests */
}

static bool copy_whole_tables(struct thinning *t)
{
    struct mst_query q = mst_query_ask(t->to->db, "SELECT name FROM sqlite_master WHERE type = "
                                       "'table' AND name NOT LIKE 'sqlite%' AND :id", 1);
    struct copier c = { 0 };
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        const char *table = mst_row_text(&q, "name");

        if (is_thinned(table))
            continue;
        fine = begin_copier(t, &c, table, "?") && copy(t, &c, 1, 0);
        end_copier(&c);
    }
    return (mst_query_done(&q) && fine) || failed(t);
}

/* ---- rows ------------------------------------------------------------------------------ */

static struct minute *minute_of(struct thinning *t, uint64_t key)
{
    size_t i;

    /* Owners usually come in the same order each time. */
    for (i = 0; i < t->minute_count; i++) {
        t->at = t->at + 1 < t->minute_count ? t->at + 1 : 0;
        if (t->minutes[t->at].key == key)
            return &t->minutes[t->at];
    }
    if (!mst_grow(&t->minutes, &t->minute_room, t->minute_count, sizeof *t->minutes))
        return NULL;
    t->at = t->minute_count++;
    t->minutes[t->at] = (struct minute){ .key = key };
    return &t->minutes[t->at];
}

static int by_rowid(const void *a, const void *b)
{
    const struct mst_thin_row *x = a, *y = b;
    int side = 0;

    while (side < MST_THIN_SIDES - 1 && x->rowid[side] == y->rowid[side])
        side++;
    return (x->rowid[side] > y->rowid[side]) - (x->rowid[side] < y->rowid[side]);
}

static bool copy_chosen(struct thinning *t, const struct mst_thin_row *row)
{
    int side;

    for (side = 0; side < MST_THIN_SIDES; side++)
        if (row->rowid[side] != 0 && !copy(t, &t->copiers[side], row->rowid[side], row->weight))
            return false;
    return row->rowid[MST_THIN_PHP] == 0 || copy(t, &t->waits, row->rowid[MST_THIN_PHP], 0);
}

/* Chooses among the minute's rows, and begins another. */
static bool end_minute(struct thinning *t, struct minute *m)
{
    bool fine = true;
    size_t i, k;

    for (i = 0; i < m->largest_count; i++)
        for (k = 0; k < MST_THIN_MAXIMA; k++)
            if (m->largest[i].value[k] > 0)
                m->rows[m->largest[i].row[k]].is_kept = true;
    if (m->count > 0 && t->subject->keeps_last)
        m->rows[m->count - 1].is_kept = true;
    mst_thin_choose(m->rows, m->count, &t->subject->rule, &t->random);
    if (m->count > 0)
        qsort(m->rows, m->count, sizeof *m->rows, by_rowid);
    for (i = 0; i < m->count && fine; i++)
        fine = m->rows[i].weight == 0 || copy_chosen(t, &m->rows[i]);
    m->count = m->largest_count = 0;
    return fine;
}

/* Notes the largest values of the row that is added next. */
static bool note_largest(struct thinning *t, struct minute *m, int side, uint64_t label,
                         sqlite3_stmt *columns, int at)
{
    struct largest *l;
    int64_t value;
    size_t i = 0;
    int k;

    while (i < m->largest_count && (m->largest[i].side != side || m->largest[i].label != label))
        i++;
    if (i == m->largest_count) {
        if (!mst_grow(&m->largest, &m->largest_room, m->largest_count, sizeof *m->largest))
            return no_memory(t);
        m->largest[m->largest_count++] = (struct largest){ .side = side, .label = label };
    }
    l = &m->largest[i];
    for (k = 0; k < t->subject->largest[side]; k++) {
        value = sqlite3_column_int64(columns, at + MST_THIN_LARGEST + k);
        if (value > 0 && (uint64_t)value > l->value[k]) {
            l->value[k] = (uint64_t)value;
            l->row[k] = m->count;
        }
    }
    return true;
}

static uint64_t label_of(sqlite3_stmt *columns, int at)
{
    const void *text = sqlite3_column_text(columns, at + MST_THIN_LABEL);

    return text == NULL ? 0 : mix(MIX_BEGIN, text,
                                  (size_t)sqlite3_column_bytes(columns, at + MST_THIN_LABEL));
}

/* Where a request of Apache's fits several of PHP's, or one of PHP's fits several of Apache's, it
 * is not known which of them belong together: each is kept, and stands for itself alone. */
static void check_joined(struct thinning *t, struct mst_thin_row *row, struct minute *m)
{
    int64_t php = row->rowid[MST_THIN_PHP];

    if (row->rowid[MST_THIN_FIRST] == t->last_rowid) {
        if (m->count > 0 && m->rows[m->count - 1].rowid[MST_THIN_FIRST] == t->last_rowid)
            m->rows[m->count - 1].is_kept = true;
        row->is_kept = true;
        row->rowid[MST_THIN_FIRST] = 0;
    }
    t->last_rowid = row->rowid[MST_THIN_FIRST] != 0 ? row->rowid[MST_THIN_FIRST] : t->last_rowid;
    if (php <= 0 || php > t->joined_max)
        return;
    if (t->joined[php >> 3] >> (php & 7) & 1) {
        row->rowid[MST_THIN_PHP] = 0;
        row->is_kept = true;
    }
    t->joined[php >> 3] |= (unsigned char)(1u << (php & 7));
}

/* Fills a side of the row from the query's columns from `at` on. */
static void read_side(struct mst_thin_row *row, int side, sqlite3_stmt *columns, int at)
{
    int64_t order = sqlite3_column_int64(columns, at + MST_THIN_ORDER);

    row->rowid[side] = sqlite3_column_int64(columns, at + MST_THIN_ROWID);
    if (row->rowid[side] == 0)
        return;
    row->order[side] = order > 0 ? (uint64_t)order : 0;
    row->label[side] = label_of(columns, at);
    row->is_kept |= sqlite3_column_int(columns, at + MST_THIN_KEEP) != 0;
    row->cell = mix_number(row->cell, (uint64_t)side);
    row->cell = mix_number(row->cell, (uint64_t)sqlite3_column_int64(columns, at + MST_THIN_OWNER));
    row->cell = mix_number(row->cell, row->label[side]);
    row->cell = mix_number(row->cell,
                           (uint64_t)sqlite3_column_int64(columns, at + MST_THIN_STATUS));
    row->cell = mix_number(row->cell, (uint64_t)sqlite3_column_int64(columns, at + MST_THIN_TIME) /
                                      MST_MINUTE_NS);
}

/* The query's present row. */
static bool take_row(struct thinning *t, sqlite3_stmt *columns)
{
    const struct mst_thin_subject *s = t->subject;
    int first = s->tables[MST_THIN_FIRST] != NULL ? MST_THIN_FIRST : MST_THIN_PHP, side;
    int at[MST_THIN_SIDES] = { 0, first == MST_THIN_FIRST ? MST_THIN_LARGEST + s->largest[0] : 0 };
    struct mst_thin_row row = { .cell = MIX_BEGIN };
    uint64_t key, number;
    struct minute *m;

    for (side = first; side < MST_THIN_SIDES; side++)
        if (s->tables[side] != NULL)
            read_side(&row, side, columns, at[side]);
    if (first == MST_THIN_PHP && row.rowid[first] <= t->joined_max &&
        t->joined[row.rowid[first] >> 3] >> (row.rowid[first] & 7) & 1)
        return true;
    key = mix_number(MIX_BEGIN, (uint64_t)sqlite3_column_int64(columns, MST_THIN_OWNER));
    key = mix_number(key, s->by_label ? row.label[first] : 0);
    number = (uint64_t)sqlite3_column_int64(columns, MST_THIN_TIME) / MST_MINUTE_NS;
    m = minute_of(t, key);
    if (m == NULL || !mst_grow(&m->rows, &m->room, m->count, sizeof *m->rows))
        return no_memory(t);
    if (number > m->number) {
        if (!end_minute(t, m))
            return false;
        m->number = number;
    }
    if (first == MST_THIN_FIRST && s->tables[MST_THIN_PHP] != NULL)
        check_joined(t, &row, m);
    row.weight = 1;
    if (number < m->number)
        return copy_chosen(t, &row);
    for (side = first; side < MST_THIN_SIDES; side++)
        if (row.rowid[side] != 0 &&
            !note_largest(t, m, side, side == MST_THIN_PHP ? row.label[side] : 0, columns,
                          at[side]))
            return false;
    m->rows[m->count++] = row;
    return true;
}

static void forget_minutes(struct thinning *t)
{
    size_t i;

    for (i = 0; i < t->minute_count; i++) {
        free(t->minutes[i].rows);
        free(t->minutes[i].largest);
    }
    t->minute_count = t->at = 0;
}

static bool thin_subject(struct thinning *t, const struct mst_thin_subject *s)
{
    struct mst_query q = mst_query_ask(t->from->db, s->sql, 1);
    bool fine = true;
    size_t i;
    int side;

    t->subject = s;
    t->last_rowid = 0;
    for (side = 0; side < MST_THIN_SIDES && fine; side++)
        fine = s->tables[side] == NULL ||
               begin_copier(t, &t->copiers[side], s->tables[side], "rowid = ?");
    while (fine && *t->stop == 0 && mst_query_next(&q))
        fine = take_row(t, q.statement);
    fine = mst_query_done(&q) && fine;
    for (i = 0; i < t->minute_count && fine; i++)
        fine = end_minute(t, &t->minutes[i]);
    forget_minutes(t);
    for (side = 0; side < MST_THIN_SIDES; side++)
        end_copier(&t->copiers[side]);
    return fine || failed(t);
}

/* ---- the whole ------------------------------------------------------------------------- */

/* 1, or 0: it is not to be thinned; -1: it cannot be read. */
static int is_thinnable(struct thinning *t)
{
    struct mst_query q = mst_query_ask(t->from->db,
        "SELECT count(*) AS runs, total(recording IS NOT NULL AND thinned_ns IS NULL) AS parts, "
        "(SELECT count(*) FROM main.client_requests) AS client, "
        "(SELECT coalesce(max(rowid), 0) FROM main.php_requests) AS php, "
        "(SELECT coalesce(min(rowid), 1) FROM main.php_requests) > 0 AS numbered, "
        "max(started_ns) AS seed "
        "FROM main.runs WHERE :id", 1);
    bool can = false;

    if (mst_query_next(&q)) {
        can = mst_row_number(&q, "runs") == 1 && mst_row_number(&q, "parts") == 1 &&
              mst_row_number(&q, "client") == 0 && mst_row_number(&q, "numbered") == 1;
        t->joined_max = mst_row_id(&q, "php");
        t->random = mst_row_number(&q, "seed");   /* the same archive, the same choice */
    }
    return !mst_query_done(&q) ? -1 : can;
}

static bool thin(struct thinning *t)
{
    char ended[96];
    bool fine;
    size_t i;

    snprintf(ended, sizeof ended, "UPDATE runs SET thinned_ns = %llu",
             (unsigned long long)mst_realtime_ns());
    t->joined = calloc((size_t)t->joined_max / 8 + 1, 1);
    if (t->joined == NULL)
        return no_memory(t);
    fine = mst_archive_execute(t->to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF") == 0 &&
           mst_archive_upgrade(t->to, 0) == 0 && mst_archive_execute(t->to, "BEGIN") == 0 &&
           copy_whole_tables(t) &&
           begin_copier(t, &t->waits, "php_waits", "(server_id, key) = (SELECT server_id, key FROM "
                        "main.php_requests WHERE rowid = ?)");
    for (i = 0; i < mst_thin_subject_count && fine; i++)
        fine = thin_subject(t, &mst_thin_subjects[i]);
    end_copier(&t->waits);
    fine = fine && *t->stop == 0 && mst_archive_execute(t->to, ended) == 0 &&
           mst_archive_execute(t->to, "COMMIT") == 0;
    free(t->joined);
    free(t->minutes);
    return fine || failed(t);
}

int mst_archive_thin(const char *from, const char *to, const volatile sig_atomic_t *stop,
                     char error[MST_ERROR_MAX])
{
    struct thinning t = { .stop = stop, .error = error };
    char ignored[MST_ERROR_MAX];
    int status;

    error[0] = '\0';
    t.from = mst_archive_read(from, error);
    if (t.from == NULL)
        return -1;
    status = is_thinnable(&t);
    if (status < 0)
        mst_archive_unreadable(t.from, error);
    if (status > 0) {
        t.to = mst_archive_open_file(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                         SQLITE_OPEN_NOMUTEX, error);
        status = t.to != NULL && thin(&t) ? 1 : -1;
    }
    if (mst_archive_close(t.to, status < 0 ? ignored : error) != 0)
        status = -1;
    mst_archive_close(t.from, ignored);
    return status;
}

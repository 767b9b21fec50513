/* change.c - which settings to change in a server's files: see change.h. */
#include "findings/change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "findings/accepted.h"
#include "findings/inquiry.h"
#include "findings/plan.h"
#include "findings/say.h"

#define IDLE_TIMEOUT "60s"   /* for pm = ondemand, where 10 s is the default */

/* What of a server's files is read for one change. */
struct reading {
    const struct mst_changed *of;
    struct mst_changes *change;
    char told[512];            /* by an Apache: what it runs with; "" */
    char section[64];          /* of an FPM the pool */
    char add_to[256];          /* the file for what stands nowhere; "": the files are not known */
    bool unknown;              /* a setting is doubtful, or SQLite failed */
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether these are the settings of that Apache. The environment numbers servers as the recording
 * met them: of several, one that was lost at the start has none, and the others' do not fit. */
static bool are_its(const struct mst_changed *of, const char *told)
{
    static const char workers[] = "MaxRequestWorkers ";
    size_t apaches = 0, i;

    if (strncmp(told, workers, strlen(workers)) == 0)
        return strtoull(told + strlen(workers), NULL, 10) == of->server->workers_limit;
    for (i = 0; i < of->run->server_count; i++)
        apaches += !mst_summary_is_php(&of->run->servers[i]);
    return apaches == 1;
}

static void read_told(struct reading *r)
{
    struct mst_query q;

    if (mst_summary_is_php(r->of->server))
        return;
    q = mst_ask_environment(r->of->db, r->of->run, r->of->server, "settings");
    if (mst_query_next(&q) && are_its(r->of, mst_row_text(&q, "value")))
        MST_SAY(r->told, "%s", mst_row_text(&q, "value"));
    r->unknown |= !mst_query_done(&q);
}

/* What the Apache told of a directive: "AsyncRequestWorkerFactor 1.5; Timeout 300". */
static bool find_told(const struct reading *r, const char *name, char value[64])
{
    const char *at = r->told;
    size_t n = strlen(name);

    while (at != NULL && !(strncmp(at, name, n) == 0 && at[n] == ' ')) {
        at = strstr(at, "; ");
        at = at != NULL ? at + 2 : NULL;
    }
    if (at == NULL)
        return false;
    mst_say(value, 64, "%.*s", (int)strcspn(at + n + 1, ";"), at + n + 1);
    return true;
}

/* The setting as it stands, or else with the value that the server takes. */
static struct mst_setting read_setting(struct reading *r, const char *section, const char *name,
                                       const char *other_name, const char *usual)
{
    struct mst_query q = mst_configured_ask(r->of->db, r->of->server, section, name, other_name);
    struct mst_setting s = { .line = MST_UNKNOWN };

    MST_SAY(s.section, "%s", section);
    MST_SAY(s.name, "%s", name);
    MST_SAY(s.file, "%s", r->add_to);
    if (!find_told(r, name, s.now))
        MST_SAY(s.now, "%s", usual);
    if (mst_query_next(&q)) {
        r->unknown |= mst_row_is_null(&q, "value");
        s.line = mst_row_number(&q, "line");
        MST_SAY(s.name, "%s", mst_row_text(&q, "name"));
        MST_SAY(s.file, "%s", mst_row_text(&q, "file"));
        MST_SAY(s.now, "%s", r->unknown ? "" : mst_row_text(&q, "value"));
    }
    r->unknown |= !mst_query_done(&q);
    return s;
}

/* A number without a unit, of a fraction the whole part. */
static uint64_t number_of(struct reading *r, const struct mst_setting *s)
{
    char *end;
    uint64_t n = strtoull(s->now, &end, 10);

    r->unknown |= end == s->now || end[strspn(end, ".0123456789")] != '\0' ||
                  s->now[0] == '-' || n > UINT32_MAX;
    return r->unknown ? 0 : n;
}

/* Adds the change of one setting. Where the files are not known, the server itself has to have told
 * the present value: its default would be a guess, and then no setting is changed. */
static void add_change(struct reading *r, const struct mst_setting *s, const char *to)
{
    struct mst_changes *c = r->change;
    char told[64];

    if (strcmp(s->now, to) == 0)
        return;
    r->unknown |= c->count == MST_CHANGE_SETTINGS ||
                  (s->file[0] == '\0' && !find_told(r, s->name, told));
    if (r->unknown)
        return;
    c->settings[c->count] = *s;
    MST_SAY(c->settings[c->count].to, "%s", to);
    c->count++;
}

static void add_number(struct reading *r, const struct mst_setting *s, uint64_t to)
{
    char text[24];

    MST_SAY(text, "%" PRIu64, to);
    add_change(r, s, text);
}

/* The pool's name in the files: the one asked for, or else the only one, as a label can differ. */
static bool find_pool(struct reading *r, const char *pool)
{
    struct mst_query q = mst_query_ask(r->of->db, "SELECT section, file, count(*) AS pools FROM "
        "settings WHERE server_id = :id AND name = 'pm.max_children' AND section <> 'global' AND "
        "(:pool IS NULL OR section = :pool)", r->of->server->id);
    bool found = false;

    mst_query_set_text(&q, ":pool", pool);
    if (mst_query_next(&q) && mst_row_number(&q, "pools") == 1) {
        MST_SAY(r->section, "%s", mst_row_text(&q, "section"));
        MST_SAY(r->add_to, "%s", mst_row_text(&q, "file"));
        found = true;
    }
    return mst_query_done(&q) && (found || (pool != NULL && find_pool(r, NULL)));
}

static bool begin(struct reading *r, struct mst_changes *c, const struct mst_changed *of)
{
    struct mst_query q = mst_query_ask(of->db, "SELECT config_file, config_check FROM servers "
                                       "WHERE id = :id AND config_file IS NOT NULL",
                                       of->server->id);
    const char *check;

    *r = (struct reading){ .of = of, .change = c };
    *c = (struct mst_changes){ 0 };
    read_told(r);
    if (mst_query_next(&q)) {
        MST_SAY(r->add_to, "%s", mst_row_text(&q, "config_file"));
        check = mst_row_text(&q, "config_check");
        MST_SAY(c->check, "%s", check != NULL ? check : "");
    } else {
        r->unknown = r->told[0] == '\0';
        MST_SAY(c->check, "apachectl configtest");
    }
    r->unknown |= !mst_query_done(&q) ||
                  (mst_summary_is_php(of->server) && !find_pool(r, of->pool));
    return !r->unknown;
}

static void end(struct reading *r)
{
    if (r->unknown || r->change->count == 0)
        *r->change = (struct mst_changes){ 0 };
}

/* ---- FPM's workers --------------------------------------------------------------------------- */

struct fpm {
    struct mst_setting  pm, settings[MST_FPM_SETTINGS];
    struct mst_fpm_pool pool;
};

/* False: the files are not what the pool runs with. */
static bool read_fpm(struct reading *r, struct fpm *f)
{
    char start[24];
    size_t i;
    int pm;

    f->pm = read_setting(r, r->section, "pm", NULL, "");
    for (pm = 0; pm < MST_PM_COUNT && strcmp(f->pm.now, mst_pm_names[pm]) != 0; pm++)
        ;
    r->unknown |= pm == MST_PM_COUNT;
    f->pool = (struct mst_fpm_pool){ .pm = (enum mst_pm)pm };
    for (i = 0; i < MST_FPM_SETTINGS && !r->unknown; i++) {
        f->settings[i] = read_setting(r, r->section, mst_fpm_names[i], NULL, "0");
        f->pool.n[i] = number_of(r, &f->settings[i]);
    }
    if (!r->unknown && f->pool.n[MST_FPM_START] == 0 && pm == MST_PM_DYNAMIC) {
        f->pool.n[MST_FPM_START] = mst_fpm_usual_start(&f->pool);
        MST_SAY(start, "%" PRIu64, f->pool.n[MST_FPM_START]);
        MST_SAY(f->settings[MST_FPM_START].now, "%s", start);
    }
    r->unknown |= !mst_fpm_accepts(&f->pool) ||
                  (r->of->limit != MST_UNKNOWN &&
                   r->of->limit != f->pool.n[MST_FPM_CHILDREN]);
    return !r->unknown;
}

/* What all pools may have together. */
static void add_all_pools(struct reading *r, uint64_t more)
{
    struct mst_setting s = read_setting(r, "global", "process.max", "process_max", "0");
    uint64_t most = number_of(r, &s);

    if (most > 0 && more > 0)
        add_number(r, &s, most + more);
}

static void add_fpm(struct reading *r, const struct fpm *f, const struct mst_fpm_pool *to)
{
    size_t i;

    if (to->pm != f->pool.pm)
        add_change(r, &f->pm, mst_pm_names[to->pm]);
    for (i = 0; i < MST_FPM_SETTINGS; i++)
        if (to->n[i] != f->pool.n[i])
            add_number(r, &f->settings[i], to->n[i]);
    if (to->n[MST_FPM_CHILDREN] > f->pool.n[MST_FPM_CHILDREN])
        add_all_pools(r, to->n[MST_FPM_CHILDREN] - f->pool.n[MST_FPM_CHILDREN]);
    r->unknown |= !mst_fpm_accepts(to);
}

/* ---- httpd's workers ------------------------------------------------------------------------- */

struct httpd {
    struct mst_setting settings[MST_MPM_SETTINGS];
    struct mst_mpm     mpm;        /* as in the files */
};

/* A setting that is in no file is added to the file that has the other settings of the MPM. */
static void find_mpm_file(struct reading *r)
{
    struct mst_query q = mst_query_ask(r->of->db, "SELECT file FROM settings WHERE server_id = :id "
        "AND name IN ('MaxRequestWorkers', 'MaxClients', 'ThreadsPerChild', 'StartServers') "
        "ORDER BY name = 'MaxRequestWorkers' DESC, name", r->of->server->id);

    if (mst_query_next(&q))
        MST_SAY(r->add_to, "%s", mst_row_text(&q, "file"));
    r->unknown |= !mst_query_done(&q);
}

static bool read_httpd(struct reading *r, struct httpd *h)
{
    bool threaded = mst_summary_is_threaded(r->of->server);
    const struct mst_mpm_directive *directives = mst_mpm_directives[threaded];
    uint64_t *n = h->mpm.n;
    struct mst_mpm corrected;
    char usual[24];
    size_t i;

    h->mpm = (struct mst_mpm){ .threaded = threaded };
    find_mpm_file(r);
    for (i = 0; i < MST_MPM_SETTINGS && !r->unknown; i++) {
        n[i] = 1;
        if (directives[i].name == NULL)
            continue;
        MST_SAY(usual, "%" PRIu64, directives[i].usual);
        h->settings[i] = read_setting(r, "", directives[i].name, directives[i].older, usual);
        n[i] = number_of(r, &h->settings[i]);
    }
    if (!r->unknown && n[MST_MPM_WORKERS] == 0) {
        n[MST_MPM_WORKERS] = n[MST_MPM_SERVER_LIMIT] * n[MST_MPM_THREADS];
        MST_SAY(h->settings[MST_MPM_WORKERS].now, "%" PRIu64, n[MST_MPM_WORKERS]);
    }
    corrected = h->mpm;
    mst_mpm_correct(&corrected);
    r->unknown |= r->of->limit != MST_UNKNOWN && r->of->limit != corrected.n[MST_MPM_WORKERS];
    return !r->unknown;
}

/* Leaves out a setting whose value in the file httpd corrects to the new value anyway. */
static void add_httpd(struct reading *r, const struct httpd *h, const struct mst_mpm *to)
{
    struct mst_mpm now = h->mpm;
    size_t i;

    mst_mpm_correct(&now);
    for (i = 0; i < MST_MPM_SETTINGS; i++)
        if (to->n[i] != now.n[i])
            add_number(r, &h->settings[i], to->n[i]);
    r->change->restart = to->n[MST_MPM_SERVER_LIMIT] != now.n[MST_MPM_SERVER_LIMIT];
    r->unknown |= !mst_mpm_accepts(to);
}

/* ---- workers --------------------------------------------------------------------------------- */

static void change_workers(struct mst_changes *c, const struct mst_changed *of, uint64_t workers,
                           void (*set_fpm)(struct mst_fpm_pool *, uint64_t),
                           void (*set_mpm)(struct mst_mpm *, uint64_t))
{
    struct reading r;
    struct fpm f;
    struct httpd h;

    if (!begin(&r, c, of) || workers == MST_UNKNOWN)
        r.unknown = true;
    else if (mst_summary_is_php(of->server) && read_fpm(&r, &f)) {
        struct mst_fpm_pool to = f.pool;

        set_fpm(&to, workers);
        add_fpm(&r, &f, &to);
    } else if (!mst_summary_is_php(of->server) && read_httpd(&r, &h)) {
        struct mst_mpm to = h.mpm;

        set_mpm(&to, workers);
        add_httpd(&r, &h, &to);
    }
    end(&r);
}

void mst_change_limit(struct mst_changes *c, const struct mst_changed *of, uint64_t workers)
{
    change_workers(c, of, workers, mst_fpm_set_limit, mst_mpm_set_limit);
}

void mst_change_ready(struct mst_changes *c, const struct mst_changed *of, uint64_t workers)
{
    change_workers(c, of, workers, mst_fpm_set_ready, mst_mpm_set_ready);
}

static void set_fpm_both(struct mst_fpm_pool *pool, uint64_t workers)
{
    mst_fpm_set_limit(pool, workers);
    mst_fpm_set_ready(pool, workers);
}

static void set_mpm_both(struct mst_mpm *mpm, uint64_t workers)
{
    mst_mpm_set_limit(mpm, workers);
    mst_mpm_set_ready(mpm, workers);
}

void mst_change_limit_and_ready(struct mst_changes *c, const struct mst_changed *of,
                                uint64_t workers)
{
    change_workers(c, of, workers, set_fpm_both, set_mpm_both);
}

/* ---- others ---------------------------------------------------------------------------------- */

void mst_change_lifetime(struct mst_changes *c, const struct mst_changed *of)
{
    bool is_php = mst_summary_is_php(of->server);
    struct mst_setting requests, idle;
    struct reading r;

    if (!begin(&r, c, of)) {
        r.unknown = true;
    } else if (is_php) {
        requests = read_setting(&r, r.section, "pm.max_requests", NULL, "0");
        idle = read_setting(&r, r.section, "pm", NULL, "");
        add_change(&r, &requests, "0");
        if (c->count == 0 && strcmp(idle.now, mst_pm_names[MST_PM_ONDEMAND]) == 0) {
            idle = read_setting(&r, r.section, "pm.process_idle_timeout", NULL, "10s");
            add_change(&r, &idle, IDLE_TIMEOUT);
        }
    } else {
        find_mpm_file(&r);
        requests = read_setting(&r, "", "MaxConnectionsPerChild", "MaxRequestsPerChild", "0");
        add_change(&r, &requests, "0");
    }
    end(&r);
    if (c->count == 0 && !r.unknown)
        mst_change_ready(c, of, of->server->max_busy);
}

static const struct { const char *name, *usual; bool restart; } alone[MST_ALONE_COUNT] = {
    [MST_ALONE_LISTEN_BACKLOG] = { "ListenBacklog", "511", true },
    [MST_ALONE_FPM_BACKLOG] = { "listen.backlog", "511", true },
    [MST_ALONE_HTTP2_WORKERS] = { "H2MaxWorkers", NULL, false },
    [MST_ALONE_ASYNC_FACTOR] = { "AsyncRequestWorkerFactor", "2", false },
    [MST_ALONE_KEEPALIVE] = { "KeepAliveTimeout", "5", false },
    [MST_ALONE_FPM_FILES] = { "rlimit_files", NULL, false },
};

void mst_change_alone(struct mst_changes *c, const struct mst_changed *of, enum mst_alone which,
                      uint64_t in_force, uint64_t to)
{
    struct mst_setting s;
    struct reading r;
    char usual[24] = "";
    uint64_t now;

    if (in_force != MST_UNKNOWN)
        MST_SAY(usual, "%" PRIu64, in_force);
    if (!begin(&r, c, of)) {
        r.unknown = true;
    } else {
        s = read_setting(&r, r.section, alone[which].name, NULL,
                         alone[which].usual != NULL ? alone[which].usual : usual);
        now = number_of(&r, &s);
        r.unknown |= which == MST_ALONE_KEEPALIVE ? now < to : now > to;
        add_number(&r, &s, to);
        c->restart = alone[which].restart;
    }
    end(&r);
}

uint64_t mst_setting_in_force(const struct mst_changed *of, const char *directive)
{
    struct mst_changes unused;
    struct mst_setting s;
    struct reading r;
    uint64_t n;

    if (!begin(&r, &unused, of))
        return MST_UNKNOWN;
    s = read_setting(&r, r.section, directive, NULL, "");
    find_told(&r, directive, s.now);
    n = number_of(&r, &s);
    return r.unknown ? MST_UNKNOWN : n;
}

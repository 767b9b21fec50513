/* verb_whatif.c - mpmstat whatif: what a recorded server would do if something were different. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ledger_rows.h"
#include "archive/writer.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/number.h"
#include "console/options.h"
#include "console/output.h"
#include "doc/lines.h"
#include "findings/findings.h"
#include "memory/pool.h"
#include "model/change.h"
#include "model/note.h"
#include "report/whatif.h"

#define SWEEP_POINTS 9u   /* a curve's knee can be seen, and it takes a few seconds */

static const char help[] =
#include "tools/cli/help/whatif.inc"
    ;
#include "tools/cli/help/whatif.opt"

typedef const char *change_function(struct mst_system *s, const struct mst_model_run *r,
                                    const char *text);

static const struct kind {
    int              option;
    const char      *name;     /* in words, before the value; of a sweep, what is swept */
    change_function *change;
} kinds[] = {
    { MST_OPTION_SET, "", mst_change_setting },
    { MST_OPTION_CLIENTS, "clients", mst_change_clients },
    { MST_OPTION_LOAD, "load", mst_change_load },
    { MST_OPTION_RATE, "rate", mst_change_rate },
    { MST_OPTION_CPUS, "cpus", mst_change_cpus },
    { MST_OPTION_END, "", mst_change_end },
    { MST_OPTION_WITHOUT, "without", mst_change_without },
};
#define KINDS (sizeof kinds / sizeof *kinds)

struct change { const struct kind *kind; const char *text; };

enum format { TEXT, JSON, HTML };
static const char *const formats[] = {
    [TEXT] = "text", [JSON] = "json", [HTML] = "html", NULL
};

struct options {
    apr_pool_t    *pool;
    struct change *changes;
    size_t         change_count;
    const char    *swept;           /* NULL: no sweep */
    double         from, to;
    const char    *run, *archive, *server;
    size_t         format;          /* of formats[] */
    bool           keep, help;
    enum mst_colour colour;
};

/* ---- the command line ------------------------------------------------------------ */

static int read_sweep(struct options *o, const char *text)
{
    const char *equals = strrchr(text, '=');
    const char *dots = equals != NULL ? strstr(equals, "..") : NULL;

    if (dots != NULL) {
        o->swept = apr_pstrmemdup(o->pool, text, (apr_size_t)(equals - text));
        o->from = mst_number_read(apr_pstrmemdup(o->pool, equals + 1,
                                                 (apr_size_t)(dots - equals - 1)));
        o->to = mst_number_read(dots + 2);
        if (o->from > 0 && o->to > o->from)
            return MST_EXIT_OK;
    }
    return mst_usage_error("whatif", "expected --sweep to be a name and two numbers, as in "
                           "\"pm.max_children=2..64\", found \"%s\"", text);
}

static int read_option(struct options *o, int option, char **argv)
{
    struct change *change;
    size_t i;

    for (i = 0; i < KINDS; i++)
        if (kinds[i].option == option) {
            change = mst_pool_append(o->pool, &o->changes, &o->change_count, sizeof *change);
            *change = (struct change){ &kinds[i], optarg };
            return MST_EXIT_OK;
        }
    switch (option) {
    case MST_OPTION_SWEEP: return read_sweep(o, optarg);
    case MST_OPTION_RUN: o->run = optarg; return MST_EXIT_OK;
    case MST_OPTION_SERVER: o->server = optarg; return MST_EXIT_OK;
    case MST_OPTION_KEEP: o->keep = true; return MST_EXIT_OK;
    case MST_OPTION_JSON: o->format = JSON; return MST_EXIT_OK;
    case MST_OPTION_FORMAT:
        return mst_output_format_read(&o->format, "whatif", formats, optarg);
    case MST_OPTION_COLOR: return mst_colour_read(&o->colour, "whatif", optarg);
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("whatif", option, argv, options);
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option, status;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1) {
        status = read_option(o, option, argv);
        if (status != MST_EXIT_OK || o->help)
            return status;
    }
    if (argc - optind != 1)
        return mst_usage_error("whatif", "it takes one archive, and got %d", argc - optind);
    if (o->change_count == 0 && o->swept == NULL)
        return mst_usage_error("whatif", "say what is different, as in --set pm.max_children=20");
    if (o->keep && o->swept != NULL)
        return mst_usage_error("whatif", "--keep keeps one prediction, and --sweep makes several");
    o->archive = argv[optind];
    return MST_EXIT_OK;
}

/* ---- the changes ----------------------------------------------------------------- */

static const char *in_words(const struct options *o)
{
    const char *words = "";
    size_t i;

    for (i = 0; i < o->change_count; i++) {
        const struct change *c = &o->changes[i];

        words = mst_pool_printf(o->pool, "%s%s%s%s%s", words, i > 0 ? ", " : "", c->kind->name,
                                c->kind->name[0] != '\0' ? " " : "", c->text);
    }
    return words;
}

static int change(struct mst_system *s, const struct options *o, const struct mst_model_run *r)
{
    const char *wrong;
    size_t i;

    *s = mst_system_copy(r);
    for (i = 0; i < o->change_count; i++) {
        wrong = o->changes[i].kind->change(s, r, o->changes[i].text);
        if (wrong != NULL)
            return mst_usage_error("whatif", "%s", wrong);
    }
    return MST_EXIT_OK;
}

/* Sets what is swept to a value: one of the other options' names, or a setting. */
static int sweep_to(struct mst_system *s, const struct options *o, const struct mst_model_run *r,
                    double at)
{
    const char *value = mst_pool_printf(o->pool, "%.10g", at), *wrong;
    size_t i;

    for (i = 0; i < KINDS && strcmp(kinds[i].name, o->swept) != 0; i++)
        ;
    if (i < KINDS)
        wrong = kinds[i].change(s, r, value);
    else
        wrong = mst_change_setting(s, r, mst_pool_printf(o->pool, "%s=%s", o->swept, value));
    return wrong == NULL ? MST_EXIT_OK : mst_usage_error("whatif", "%s", wrong);
}

/* As far apart in proportion; whole numbers, as clients and limits are. */
static double *points_of(const struct options *o, size_t *count)
{
    double *at = apr_palloc(o->pool, SWEEP_POINTS * sizeof *at), next;
    size_t i;

    for (i = *count = 0; i < SWEEP_POINTS; i++) {
        next = round(o->from * pow(o->to / o->from, (double)i / (SWEEP_POINTS - 1)));
        if (*count == 0 || next > at[*count - 1])
            at[(*count)++] = fmax(next, 1);
    }
    return at;
}

static int predict(struct mst_whatif *w, const struct options *o, const struct mst_model_run *r)
{
    struct mst_system *s = apr_palloc(o->pool, sizeof *s);
    struct mst_forecast *then;
    size_t i, count = 1;
    double *at = o->swept != NULL ? points_of(o, &count) : NULL;
    int status;

    w->changed = s;
    w->at = at;
    w->swept = o->swept;
    w->then = then = apr_pcalloc(o->pool, count * sizeof *then);
    for (i = 0; i < count; i++) {
        status = change(s, o, r);
        if (status == MST_EXIT_OK && at != NULL)
            status = sweep_to(s, o, r, at[i]);
        if (status != MST_EXIT_OK)
            return status;
        if (w->prediction->why_not == NULL) {
            mst_model_forecast(&then[i], w->prediction, s, r);
            w->count++;
        }
    }
    return MST_EXIT_OK;
}

/* ---- one of several servers ------------------------------------------------------ */

/* The front of that name, or that has a PHP of that name. */
static const struct mst_summary_server *find_front(const struct mst_model_run *r, const char *name)
{
    const struct mst_model_server *server;

    for (server = r->servers; server < r->servers + r->server_count; server++)
        if (strcmp(mst_summary_called(server->front), name) == 0 ||
            (server->php != NULL && strcmp(mst_summary_called(server->php), name) == 0))
            return server->front;
    return NULL;
}

static const char *names_of(const struct mst_model_run *r)
{
    const char *names = "";
    size_t i;

    for (i = 0; i < r->server_count; i++)
        names = mst_pool_printf(r->pool, "%s%s%s", names, i > 0 ? ", " : "",
                                mst_summary_called(r->servers[i].front));
    return names;
}

static int look_at_server(const struct options *o, struct mst_prediction *p,
                          struct mst_model_run *r)
{
    const struct mst_summary_server *front;

    if (o->server == NULL)
        return MST_EXIT_OK;
    front = find_front(r, o->server);
    if (front == NULL)
        return mst_usage_error("whatif", "the load was not for a server \"%s\", but for: %s",
                               o->server, names_of(r));
    mst_model_look_at(p, r, front);
    return MST_EXIT_OK;
}

/* ---- what is kept ---------------------------------------------------------------- */

static bool is_same_load(const struct mst_model_load *a, const struct mst_model_load *b)
{
    return a->arrivals == b->arrivals && a->clients == b->clients && a->rate == b->rate;
}

/* The prediction as the archive keeps it: of what a later run tells. */
static int note(struct mst_ledger_entry *e, const struct mst_whatif *w)
{
    const struct mst_model_run *r = w->recorded;

    mst_model_note(e, w->prediction, w->changed, w->then);
    snprintf(e->code, sizeof e->code, "%s", MST_LEDGER_BY_USER);
    if (r->server_count > 1)
        return mst_usage_error("whatif", "--keep takes a recording of one server: mpmstat compare "
                               "does not judge a prediction for one of several");
    if (!mst_model_note_settings(e, r, w->changed))
        return mst_usage_error("whatif", "--keep takes limits of workers and the load (--set, "
                               "--clients, --load, --rate): whether a later run has the other "
                               "changes cannot be told from its recording");
    if (e->setting_count == 0 && is_same_load(&r->system.load, &w->changed->load))
        return mst_usage_error("whatif", "there is nothing to keep: it is as it was recorded");
    if (w->then->overloaded)
        return mst_failed(MST_EXIT_BAD, "nothing is kept: requests come faster than they are "
                          "answered, and how long they take depends on when the load ends");
    return MST_EXIT_OK;
}

static int keep(const struct options *o, int64_t run_id, const struct mst_ledger_entry *e)
{
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *archive = mst_archive_create(o->archive, mst_tell, error);
    int status = MST_EXIT_OK;

    if (archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "the prediction is not kept: %s", error);
    if (mst_ledger_write(archive, run_id, e) != 0 || mst_archive_commit(archive) != 0)
        status = mst_failed(MST_EXIT_OUTPUT, "the prediction is not kept: %s",
                            mst_archive_error(archive));
    mst_archive_close(archive, ignored);
    if (status == MST_EXIT_OK)
        mst_say_last("kept in %s: mpmstat compare sets beside it what a run with this change "
                     "brings", o->archive);
    return status;
}

/* ---- the archive ----------------------------------------------------------------- */

/* The run of that name or number, else the latest. */
static int find_run(struct mst_summary *s, struct mst_archive *archive, const struct options *o)
{
    char error[MST_ERROR_MAX], number[32];
    int64_t *ids = NULL;
    size_t count = 0, i;
    int status = MST_EXIT_OK;
    bool found = false;

    if (mst_summary_runs(archive, &ids, &count, error) != 0)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    for (i = count; i-- > 0 && !found && status == MST_EXIT_OK;) {
        if (mst_summary_make(s, archive, ids[i], error) != 0 ||
            mst_findings_causes(s, archive, error) != 0)
            status = mst_failed(MST_EXIT_TARGET, "%s", error);
        snprintf(number, sizeof number, "%lld", (long long)ids[i]);
        found = o->run == NULL || strcmp(o->run, number) == 0 ||
                (s->name != NULL && strcmp(o->run, s->name) == 0);
        if (!found)
            mst_summary_free(s);
    }
    free(ids);
    if (status != MST_EXIT_OK || found)
        return status;
    if (o->run == NULL)
        return mst_failed(MST_EXIT_TARGET, "there is no run in %s", o->archive);
    return mst_failed(MST_EXIT_TARGET, "there is no run \"%s\" in %s", o->run, o->archive);
}

/* *e: what is to be kept, with --keep. */
static int show(const struct options *o, const struct mst_summary *summary,
                struct mst_archive *archive, struct mst_ledger_entry *e)
{
    struct mst_model_run recorded;
    struct mst_prediction prediction = { 0 };
    struct mst_whatif w = { .archive = o->archive, .changes = in_words(o), .recorded = &recorded,
                            .prediction = &prediction };
    struct mst_sink sink;
    struct mst_doc doc;
    int status = MST_EXIT_OK;

    if (!mst_model_run_make(&recorded, summary, mst_archive_db(archive), o->pool))
        return mst_failed(MST_EXIT_TARGET, "%s cannot be read", o->archive);
    if (recorded.why_not == NULL) {
        mst_model_calibrate(&prediction, &recorded);
        status = look_at_server(o, &prediction, &recorded);
        if (status == MST_EXIT_OK)
            status = predict(&w, o, &recorded);
    }
    if (status == MST_EXIT_OK && o->keep && w.count > 0)
        status = note(e, &w);
    if (status != MST_EXIT_OK)
        return status;
    mst_style_use(o->colour, STDOUT_FILENO);
    mst_sink_init(&sink, mst_write_file, stdout);
    doc = mst_doc_text(&sink, MST_TEXT_WIDTH);
    if (o->format == JSON)
        mst_whatif_json(&sink, &w);
    else if (o->format == HTML)
        mst_whatif_html(&sink, &w);
    else
        mst_whatif_put(&doc, &w);
    if (mst_sink_flush(&sink) != 0)
        return MST_EXIT_OUTPUT;
    return w.count > 0 ? MST_EXIT_OK : MST_EXIT_BAD;
}

static int whatif(const struct options *o)
{
    struct mst_summary summary = { 0 };
    struct mst_ledger_entry kept = { 0 };
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *archive = mst_archive_read(o->archive, error);
    int64_t run_id;
    int status;

    if (archive == NULL)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    status = find_run(&summary, archive, o);
    if (status == MST_EXIT_OK)
        status = show(o, &summary, archive, &kept);
    run_id = summary.id;
    mst_summary_free(&summary);
    mst_archive_close(archive, ignored);
    return status == MST_EXIT_OK && o->keep ? keep(o, run_id, &kept) : status;
}

int mst_verb_whatif(int argc, char **argv)
{
    struct options o = { .pool = mst_pool_new(NULL) };
    int status = read_options(&o, argc, argv);

    if (status == MST_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (status == MST_EXIT_OK)
        status = whatif(&o);
    apr_pool_destroy(o.pool);
    return status;
}

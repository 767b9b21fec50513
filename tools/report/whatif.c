/* whatif.c - see whatif.h. */
#include "report/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "console/format.h"
#include "doc/table.h"
#include "findings/demand.h"
#include "findings/foresight.h"
#include "memory/pool.h"
#include "render/json_writer.h"

/* ---- numbers ----------------------------------------------------------------------- */

static struct mst_formatted number(enum mst_measure measure, double value)
{
    if (isnan(value))
        return (struct mst_formatted){ "-" };
    if (measure == MST_MEASURE_RATE)
        return mst_format_real(value);
    return mst_format_seconds(value);
}

/* "98 to 108 per second". */
static const char *interval(const struct mst_model_estimate *e, enum mst_measure measure,
                            char *text, size_t size)
{
    if (isnan(e->value))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%s to %s", number(measure, e->low).text,
                 number(measure, e->high).text);
    return text;
}

static const char *const measured_as[MST_MEASURE_COUNT] = {
    [MST_MEASURE_RATE] = "requests per second", [MST_MEASURE_MEAN] = "mean time",
    [MST_MEASURE_P50] = "p50", [MST_MEASURE_P90] = "p90", [MST_MEASURE_P95] = "p95",
    [MST_MEASURE_P99] = "p99",
};

/* "20", "1.97". */
static struct mst_formatted amount(double value)
{
    return value == floor(value) && value < 1e15 ? mst_format_count((uint64_t)value)
                                                 : mst_format_real(value);
}

/* ---- what runs out ----------------------------------------------------------------- */

/* What it means that this is the limit, a sentence without its end. */
static void limit_words(const struct mst_model_use *limit, char *text, size_t size)
{
    struct mst_formatted most = amount(limit->limit);
    char called[MST_LIMIT_CALLED_MAX];

    if (strncmp(limit->name, "cpu", 3) == 0)
        snprintf(text, size, "the CPUs are full: %s are in use of the %s that there are%s",
                 mst_format_real(limit->used).text, most.text, limit->name + 3);
    else if (strcmp(limit->name, "load tool") == 0)
        snprintf(text, size, "the load tool is the limit, and the server would take more");
    else if (strstr(limit->name, "-workers") != NULL)
        snprintf(text, size, "%s run out: all %s are in use, and %s requests wait for one on "
                 "average", mst_limit_called(called, limit->name), most.text,
                 mst_format_real(limit->waiting).text);
    else
        snprintf(text, size, "\"%s\" lets in one request at a time, and %s wait for it on average",
                 limit->name, mst_format_real(limit->waiting).text);
}

static void say_limit(const struct mst_doc *doc, const char *when,
                      const struct mst_forecast *outcome)
{
    char words[256] = "nothing runs out: most of the time requests find a free worker and a CPU";

    if (outcome->limit != NULL)
        limit_words(outcome->limit, words, sizeof words);
    mst_doc_paragraph(doc, outcome->overloaded ? MST_STYLE_WARNING : MST_STYLE_PLAIN, "%s %s.%s",
                      when, words, outcome->overloaded ? " Requests come faster than they are "
                      "answered. They pile up, and times grow as long as the load goes on." : "");
}

/* What other programs took is not known to be there for the servers, nor to be lost to them. */
static void say_others(const struct mst_doc *doc, const struct mst_whatif *w,
                       const struct mst_forecast *then)
{
    const struct mst_model_run *r = w->recorded;

    if (isnan(r->cpus))
        mst_doc_paragraph(doc, MST_STYLE_WARNING, "How many CPUs the servers had, and how busy "
                          "they were, is not known: the prediction is for as many as they want.");
    if (then->others_matter)
        mst_doc_paragraph(doc, MST_STYLE_WARNING, "Other programs took %s of %s CPUs in the "
                          "recording. Whether they give way is not known: the intervals are from "
                          "all of that to nothing. A recording without them would tell.",
                          mst_format_real(r->cpus_taken).text, mst_format_real(r->cpus).text);
}

/* More processes need more memory. */
static void say_memory(const struct mst_doc *doc, const struct mst_whatif *w)
{
    const struct mst_model_run *r = w->recorded;
    struct mst_per_process process;
    size_t i;

    for (i = 0; i < r->workers_count; i++) {
        const struct mst_model_workers *workers = &r->workers[i];
        uint32_t now = r->system.gates[workers->gate].limit;
        uint32_t then = w->changed->gates[workers->gate].limit;
        double more;

        if (then <= now || mst_summary_is_threaded(workers->server) ||
            !mst_per_process_read(&process, r->db, workers->server->id) || !process.known)
            continue;
        more = (then - now) * process.high;
        mst_doc_paragraph(doc, r->summary->memory_available != MST_UNKNOWN &&
                          more > (double)r->summary->memory_available ? MST_STYLE_WARNING :
                          MST_STYLE_PLAIN, "%" PRIu32 " more processes take up to %s more memory; "
                          "%s were available.", then - now, mst_format_bytes((uint64_t)more).text,
                          mst_format_bytes(r->summary->memory_available).text);
    }
}

static void say_busier_ends(const struct mst_doc *doc, const struct mst_whatif *w,
                            const struct mst_forecast *then)
{
    const struct mst_forecast *now = &w->prediction->now;
    size_t i;

    for (i = 0; i < w->recorded->system.end_count; i++) {
        const struct mst_model_end *end = &w->recorded->system.ends[i];

        if (mst_model_is_busier(w->prediction, then, i))
            mst_doc_paragraph(doc, MST_STYLE_WARNING, "%s would have %s requests at once, and had "
                              "%s. How long its answers take then is not known: the prediction is "
                              "for as long as they took.", end->called,
                              mst_format_real(then->at_ends[i]).text,
                              mst_format_real(now->at_ends[i]).text);
    }
}

/* Of one of several servers; unknown where the simulation does not come to what it measured. */
static struct mst_model_estimate server_then(const struct mst_whatif *w, size_t view,
                                             enum mst_measure measure)
{
    if (mst_model_is_off(w->prediction, view))
        return (struct mst_model_estimate){ NAN, NAN, NAN };
    return mst_model_estimate_for(w->prediction, view, &w->then[0], measure);
}

/* ---- text -------------------------------------------------------------------------- */

static void put_one(const struct mst_doc *doc, const struct mst_whatif *w)
{
    static const struct mst_doc_column columns[] = {
        { "", .kind = MST_DOC_LABEL },
        { "now", .kind = MST_DOC_NUMBER },
        { "then", .kind = MST_DOC_NUMBER },
        { "90 % interval", .kind = MST_DOC_WORDS },
    };
    const struct mst_forecast *then = &w->then[0];
    struct mst_doc_table t;
    char text[96];
    size_t i;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < MST_MEASURE_COUNT; i++) {
        double now = w->recorded->view->measured[i];
        struct mst_model_estimate e = mst_model_estimate_of(w->prediction, then,
                                                            (enum mst_measure)i);

        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s", measured_as[i]);
        mst_doc_real(&t, now, number((enum mst_measure)i, now).text);
        mst_doc_real(&t, e.value, number((enum mst_measure)i, e.value).text);
        mst_doc_words(&t, "%s", interval(&e, (enum mst_measure)i, text, sizeof text));
    }
    mst_doc_table_end(&t, doc, "Now and then", "numbers");
}

/* The one of several servers whose numbers are told; NULL: they are all servers'. */
static const char *whose_name(const struct mst_model_run *r)
{
    return r->server_count > 1 && r->view->server != NULL ? mst_summary_called(r->view->server)
                                                          : NULL;
}

/* ", numbers of web1 alone". */
static const char *whose(const struct mst_model_run *r)
{
    if (r->server_count < 2)
        return "";
    return r->view->server == NULL ? ", numbers of all servers together" :
           mst_pool_printf(r->pool, ", numbers of %s alone", whose_name(r));
}

/* Of several servers each one's own: a client that waits for one of them sends nothing to the
 * others. */
static void put_servers(const struct mst_doc *doc, const struct mst_whatif *w)
{
    static const struct mst_doc_column columns[] = {
        { "of each server", .kind = MST_DOC_LABEL },
        { "requests per second", .kind = MST_DOC_NUMBER, .word = "per s" },
        { "then", .kind = MST_DOC_NUMBER },
        { "p50", .kind = MST_DOC_NUMBER },
        { "then", .kind = MST_DOC_NUMBER },
        { "p95", .kind = MST_DOC_NUMBER },
        { "then", .kind = MST_DOC_NUMBER },
    };
    static const enum mst_measure shown[] = { MST_MEASURE_RATE, MST_MEASURE_P50, MST_MEASURE_P95 };
    const struct mst_model_run *r = w->recorded;
    struct mst_doc_table t;
    size_t i, k;

    if (r->server_count < 2)
        return;
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 1; i < r->view_count; i++) {
        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s", mst_summary_called(r->views[i].server));
        for (k = 0; k < sizeof shown / sizeof *shown; k++) {
            double now = r->views[i].measured[shown[k]];
            double then = server_then(w, i, shown[k]).value;

            mst_doc_real(&t, now, number(shown[k], now).text);
            mst_doc_real(&t, then, number(shown[k], then).text);
        }
    }
    mst_doc_table_end(&t, doc, "Of each server", "numbers");
    mst_doc_space(doc);
}

static void put_uses(const struct mst_doc *doc, const struct mst_whatif *w)
{
    static const struct mst_doc_column columns[] = {
        { "in use", .kind = MST_DOC_LABEL },
        { "now", .kind = MST_DOC_WORDS },
        { "then", .kind = MST_DOC_WORDS },
        { "waiting now", .kind = MST_DOC_NUMBER },
        { "then", .kind = MST_DOC_NUMBER },
    };
    const struct mst_forecast *now = &w->prediction->now, *then = &w->then[0];
    struct mst_doc_table t;
    size_t i;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < now->use_count; i++) {
        const struct mst_model_use *a = &now->uses[i], *b = &then->uses[i];

        if (isinf(a->limit) && isinf(b->limit))
            continue;
        mst_doc_row(&t, b == then->limit ? MST_STYLE_STRONG : MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s", a->name);
        mst_doc_words(&t, "%s of %s", mst_format_real(a->used).text,
                      amount(a->limit).text);
        mst_doc_words(&t, "%s of %s", mst_format_real(b->used).text,
                      amount(b->limit).text);
        mst_doc_real(&t, a->waiting, mst_format_real(a->waiting).text);
        mst_doc_real(&t, b->waiting, mst_format_real(b->waiting).text);
    }
    mst_doc_table_end(&t, doc, "What is in use", "numbers");
}

static void put_sweep(const struct mst_doc *doc, const struct mst_whatif *w)
{
    const struct mst_doc_column columns[] = {
        { w->swept, .kind = MST_DOC_NUMBER },
        { "requests per second", .kind = MST_DOC_NUMBER, .word = "per s" },
        { "interval", .kind = MST_DOC_WORDS },
        { "p50", .kind = MST_DOC_NUMBER },
        { "p95", .kind = MST_DOC_NUMBER },
        { "interval", .kind = MST_DOC_WORDS },
        { "what runs out", .kind = MST_DOC_NAME },
    };
    static const enum mst_measure shown[] = { MST_MEASURE_RATE, MST_MEASURE_P50, MST_MEASURE_P95 };
    struct mst_doc_table t;
    char text[96];
    size_t i, k;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < w->count; i++) {
        const struct mst_forecast *then = &w->then[i];

        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_real(&t, w->at[i], amount(w->at[i]).text);
        for (k = 0; k < sizeof shown / sizeof *shown; k++) {
            struct mst_model_estimate e = mst_model_estimate_of(w->prediction, then, shown[k]);

            mst_doc_real(&t, e.value, number(shown[k], e.value).text);
            if (shown[k] != MST_MEASURE_P50)
                mst_doc_words(&t, "%s", interval(&e, shown[k], text, sizeof text));
        }
        mst_doc_words(&t, "%s", then->overloaded ? "overloaded" :
                      then->limit != NULL ? then->limit->name : "");
    }
    mst_doc_table_end(&t, doc, "Sweep", "numbers");
}

/* How well the simulation of the recorded server comes to what was measured. */
static void say_fit(const struct mst_doc *doc, const struct mst_whatif *w)
{
    const struct mst_prediction *p = w->prediction;
    static const enum mst_measure shown[] = { MST_MEASURE_RATE, MST_MEASURE_P50, MST_MEASURE_P95 };
    const struct mst_forecast_view *seen = mst_model_seen(p, &p->now);
    char text[256] = "";
    size_t i, used = 0;

    for (i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!isnan(w->recorded->view->measured[shown[i]]))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s (%s)",
                                     used > 0 ? ", " : "", measured_as[shown[i]],
                                     number(shown[i], seen->medians[shown[i]]).text,
                                     number(shown[i], w->recorded->view->measured[shown[i]]).text);
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "The simulation of the run as it was, and in brackets "
                      "what was measured: %s.", text);
}

void mst_whatif_put(const struct mst_doc *doc, const struct mst_whatif *w)
{
    const struct mst_prediction *p = w->prediction;

    if (w->count == 0) {
        if (w->recorded->why_not != NULL)
            mst_doc_paragraph(doc, MST_STYLE_STRONG, "Nothing can be predicted from this run: %s.",
                              w->recorded->why_not);
        else
            mst_doc_paragraph(doc, MST_STYLE_STRONG, "Nothing is predicted: %s.", p->why_not);
        if (w->recorded->why_not == NULL) {
            say_fit(doc, w);
        }
        if (w->recorded->why_not == NULL && !p->is_explained) {
            mst_doc_paragraph(doc, MST_STYLE_PLAIN, "Something that the recording does not tell "
                              "decided about it: other programs, a cache that filled, a load that "
                              "changed. Record again, for longer, while nothing else runs.");
        }
        return;
    }
    mst_doc_paragraph(doc, MST_STYLE_STRONG, "What if %s%s%s%s:", w->changes,
                      w->swept != NULL && w->changes[0] != '\0' ? ", and " : "",
                      w->swept != NULL ? w->swept : "", whose(w->recorded));
    mst_doc_space(doc);
    if (w->swept != NULL) {
        put_sweep(doc, w);
    } else {
        put_one(doc, w);
        mst_doc_space(doc);
        put_servers(doc, w);
        put_uses(doc, w);
        mst_doc_space(doc);
        say_limit(doc, "Now", &p->now);
        say_limit(doc, "Then", &w->then[0]);
        say_others(doc, w, &w->then[0]);
        say_memory(doc, w);
        say_busier_ends(doc, w, &w->then[0]);
    }
    mst_doc_space(doc);
    say_fit(doc, w);
}

/* ---- JSON -------------------------------------------------------------------------- */

static void put_real(struct mst_json *j, const char *key, double value)
{
    mst_json_value(j, key);
    if (isinf(value))
        value = NAN;
    mst_real_put(j->out, value, "null");
}

static void put_use(struct mst_json *j, const struct mst_model_use *use)
{
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", use->name);
    put_real(j, "limit", use->limit);
    put_real(j, "used", use->used);
    put_real(j, "waiting", use->waiting);
    put_real(j, "full", use->full);
    mst_json_end(j, '}');
}

static void put_outcome(struct mst_json *j, const struct mst_forecast *o)
{
    size_t i;

    mst_json_string(j, "runs_out", o->limit != NULL ? o->limit->name : NULL);
    mst_json_bool(j, "overloaded", o->overloaded);
    mst_json_bool(j, "others_matter", o->others_matter);
    mst_json_begin(j, "in_use", '[');
    for (i = 0; i < o->use_count; i++)
        if (isfinite(o->uses[i].limit))
            put_use(j, &o->uses[i]);
    mst_json_end(j, ']');
}

static void put_estimate(struct mst_json *j, const char *key, const struct mst_model_estimate *e)
{
    mst_json_begin(j, key, '{');
    put_real(j, "value", e->value);
    put_real(j, "low", e->low);
    put_real(j, "high", e->high);
    mst_json_end(j, '}');
}

static void put_then(struct mst_json *j, const char *key, const struct mst_whatif *w, size_t nth)
{
    size_t i;

    mst_json_begin(j, key, '{');
    if (w->swept != NULL)
        put_real(j, "at", w->at[nth]);
    for (i = 0; i < MST_MEASURE_COUNT; i++) {
        struct mst_model_estimate e = mst_model_estimate_of(w->prediction, &w->then[nth],
                                                   (enum mst_measure)i);

        put_estimate(j, mst_measure_names[i], &e);
    }
    put_outcome(j, &w->then[nth]);
    mst_json_begin(j, "busier_ends", '[');
    for (i = 0; i < w->recorded->system.end_count; i++)
        if (mst_model_is_busier(w->prediction, &w->then[nth], i))
            mst_json_string(j, NULL, w->recorded->system.ends[i].called);
    mst_json_end(j, ']');
    mst_json_end(j, '}');
}

static void put_measures(struct mst_json *j, const char *key, const double *values)
{
    size_t i;

    mst_json_begin(j, key, '{');
    for (i = 0; i < MST_MEASURE_COUNT; i++)
        put_real(j, mst_measure_names[i], values[i]);
}

/* Of several servers each one's own. */
static void put_each(struct mst_json *j, const struct mst_whatif *w)
{
    const struct mst_model_run *r = w->recorded;
    size_t i, m;

    if (r->server_count < 2)
        return;
    mst_json_begin(j, "servers", '[');
    for (i = 1; i < r->view_count; i++) {
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "server", mst_summary_called(r->views[i].server));
        put_measures(j, "now", r->views[i].measured);
        mst_json_end(j, '}');
        mst_json_begin(j, "then", '{');
        for (m = 0; m < MST_MEASURE_COUNT; m++) {
            struct mst_model_estimate e = server_then(w, i, (enum mst_measure)m);

            put_estimate(j, mst_measure_names[m], &e);
        }
        mst_json_end(j, '}');
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

void mst_whatif_json(struct mst_sink *sink, const struct mst_whatif *w)
{
    const struct mst_prediction *p = w->prediction;
    struct mst_json j = { .out = sink, .spaced = true };
    const char *why_not = w->recorded->why_not != NULL ? w->recorded->why_not : p->why_not;
    size_t i;

    mst_json_begin(&j, NULL, '{');
    mst_json_string(&j, "archive", w->archive);
    mst_json_count(&j, "run", (uint64_t)w->recorded->summary->id);
    mst_json_string(&j, "changes", w->changes);
    mst_json_string(&j, "server", whose_name(w->recorded));
    mst_json_string(&j, "why_not", why_not);
    if (w->recorded->why_not == NULL) {
        mst_json_bool(&j, "cpus_known", !isnan(w->recorded->cpus));
        put_measures(&j, "now", w->recorded->view->measured);
        put_outcome(&j, &p->now);
        mst_json_end(&j, '}');
        put_measures(&j, "simulated", mst_model_seen(p, &p->now)->medians);
        mst_json_end(&j, '}');
    }
    if (w->count > 0 && w->swept == NULL) {
        put_then(&j, "then", w, 0);
        put_each(&j, w);
    }
    if (w->swept != NULL) {
        mst_json_string(&j, "swept", w->swept);
        mst_json_begin(&j, "sweep", '[');
        for (i = 0; i < w->count; i++)
            put_then(&j, NULL, w, i);
        mst_json_end(&j, ']');
    }
    mst_json_end(&j, '}');
    mst_sink_puts(sink, "\n");
}

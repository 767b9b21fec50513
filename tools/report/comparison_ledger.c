/* comparison_ledger.c - what was predicted from A, and what B brought: see comparison_ledger.h. */
#include "report/comparison_ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "console/format.h"
#include "model/recorded.h"
#include "segment/format.h"
#include "stats/bootstrap.h"

/* scale: from the units of the model, which JSON has, to those of the ledger. */
static const struct { enum mst_measure measure; double scale; const char *before, *behind; }
measures[MST_LEDGER_MEASURES] = {
    [MST_LEDGER_RATE] = { MST_MEASURE_RATE, 1000, "", " requests/s" },
    [MST_LEDGER_P50] = { MST_MEASURE_P50, (double)MST_NS_PER_S, "p50 ", "" },
    [MST_LEDGER_P95] = { MST_MEASURE_P95, (double)MST_NS_PER_S, "p95 ", "" },
};

/* ---- what was predicted ------------------------------------------------------------ */

static bool is_load_of(const struct mst_ledger_entry *a, const struct mst_ledger_entry *b)
{
    return a->clients == b->clients && mst_comparison_same_load(a->load_milli, b->load_milli);
}

/* The prediction of that change, which other runs of A can have, too. A change that is advised, and
 * that a user asks about, is one. */
static struct mst_comparison_prediction *prediction_of(struct mst_comparison_table *t,
                                                       const struct mst_compare_run *run,
                                                       const struct mst_ledger_entry *e)
{
    struct mst_comparison_prediction *p;
    size_t i;

    for (i = 0; i < t->prediction_count; i++) {
        p = &t->predictions[i];
        if (mst_ledger_are_same(&p->entry, e) && is_load_of(&p->entry, e) &&
            p->entry.by_client == e->by_client)
            return p;
    }
    p = mst_pool_append(t->pool, &t->predictions, &t->prediction_count, sizeof *p);
    p->entry = *e;
    p->run = run;
    p->runs = apr_palloc(t->pool, t->a.count * sizeof *p->runs);
    return p;
}

/* The mean as of values of so many runs; what one of them has not, they do not have. */
static void add_value(struct mst_ledger_value *sum, const struct mst_ledger_value *v, size_t runs)
{
    const double of_sum = (double)(runs - 1) / (double)runs, of_one = 1 / (double)runs;

    if (v->predicted == MST_UNKNOWN)
        sum->predicted = MST_UNKNOWN;
    if (sum->predicted == MST_UNKNOWN || runs == 1)
        return;
    sum->predicted = (uint64_t)llround(pow((double)sum->predicted, of_sum) *
                                       pow((double)v->predicted, of_one));
    sum->low = (uint64_t)llround(pow((double)sum->low, of_sum) * pow((double)v->low, of_one));
    sum->high = (uint64_t)llround(pow((double)sum->high, of_sum) * pow((double)v->high, of_one));
}

static void collect(struct mst_comparison_table *t)
{
    struct mst_comparison_prediction *p;
    size_t i, k, n;

    for (i = 0; i < t->a.count; i++) {
        const struct mst_compare_run *run = &t->a.runs[i];

        for (k = 0; k < run->prediction_count; k++) {
            p = prediction_of(t, run, &run->predictions[k]);
            if (p->run_count > 0 && p->runs[p->run_count - 1] == run->summary.id)
                continue;
            p->runs[p->run_count++] = run->summary.id;
            for (n = 0; n < MST_LEDGER_MEASURES; n++)
                add_value(&p->entry.values[n], &run->predictions[k].values[n], p->run_count);
        }
    }
}

/* ---- the change in words ----------------------------------------------------------- */

static const char *load_in_words(apr_pool_t *pool, const struct mst_ledger_entry *e)
{
    return e->clients != MST_UNKNOWN ? mst_pool_printf(pool, "%" PRIu64 " clients", e->clients) :
           mst_pool_printf(pool, "%s requests per second", mst_format_milli(e->load_milli).text);
}

static const char *in_words(apr_pool_t *pool, const struct mst_comparison_prediction *p)
{
    const char *words = "", *called;
    size_t i;

    for (i = 0; i < p->entry.setting_count; i++) {
        const struct mst_ledger_setting *s = &p->entry.settings[i];

        called = mst_comparison_called(pool, p->run, s->section, s->name);
        words = mst_pool_printf(pool, "%s%s%s = %s", words, i > 0 ? ", " : "", called, s->value);
    }
    if (mst_comparison_changes_load(p))
        words = mst_pool_printf(pool, "%s%s%s", words, words[0] != '\0' ? ", " : "",
                                load_in_words(pool, &p->entry));
    return words;
}

/* ---- what came --------------------------------------------------------------------- */

/* NAN: a run does not have it. */
static double measured(const struct mst_comparison_table *t, bool by_client,
                       enum mst_ledger_measure which)
{
    double *values = apr_palloc(t->pool, t->b.count * sizeof *values);
    const struct mst_summary_server *front;
    size_t i;

    for (i = 0; i < t->b.count; i++) {
        const struct mst_summary *s = &t->b.runs[i].summary;

        front = mst_summary_front(s);
        values[i] = front != NULL ? mst_model_measured(s, front, by_client,
                                                       measures[which].measure) : NAN;
        if (!(values[i] > 0))
            return NAN;
    }
    return mst_bootstrap_mean(values, t->b.count) * measures[which].scale;
}

static void judge(struct mst_comparison_table *t, struct mst_comparison_prediction *p)
{
    size_t i;

    p->change = in_words(t->pool, p);
    p->why_not = mst_comparison_other_change(t, p);
    for (i = 0; i < MST_LEDGER_MEASURES; i++)
        p->measured[i] = p->why_not == NULL ? measured(t, p->entry.by_client, i) : NAN;
}

void mst_comparison_find_predictions(struct mst_comparison_table *t)
{
    size_t count, judged = 0, i;

    collect(t);
    count = t->prediction_count;
    t->prediction_count = 0;
    for (i = 0; i < count; i++)
        if (mst_comparison_is_tried(t, &t->predictions[i])) {
            struct mst_comparison_prediction *p = &t->predictions[t->prediction_count++];

            *p = t->predictions[i];
            judge(t, p);
            judged += p->why_not == NULL;
        }
    count = t->prediction_count;
    for (i = t->prediction_count = 0; i < count; i++)
        if (judged == 0 || t->predictions[i].why_not == NULL)
            t->predictions[t->prediction_count++] = t->predictions[i];
}

/* ---- sentences --------------------------------------------------------------------- */

static struct mst_formatted number(enum mst_ledger_measure which, double value)
{
    return which == MST_LEDGER_RATE ? mst_format_real(value / measures[which].scale) :
                                      mst_format_seconds(value / measures[which].scale);
}

/* As they are told, so that no sentence says of 20 that it is above 20. */
static const char *verdict(const struct mst_ledger_value *v, double came)
{
    return isnan(came) ? "" : came < (double)v->low ? ": below the interval" :
           came > (double)v->high ? ": above the interval" : ": within the interval";
}

/* "392 requests/s (380 to 405), measured 390: within the interval". */
static const char *add_measure(apr_pool_t *pool, const char *text,
                               const struct mst_comparison_prediction *p,
                               enum mst_ledger_measure which)
{
    const struct mst_ledger_value *v = &p->entry.values[which];
    double came = p->measured[which];

    if (v->predicted == MST_UNKNOWN)
        return text;
    return mst_pool_printf(pool, "%s%s%s%s%s (%s to %s), measured %s%s", text,
                           text[0] != '\0' ? "; " : "", measures[which].before,
                           number(which, (double)v->predicted).text, measures[which].behind,
                           number(which, (double)v->low).text, number(which, (double)v->high).text,
                           isnan(came) ? "not known" : number(which, came).text, verdict(v, came));
}

/* "run 3", "2 runs of A": from which, and by whom. */
static const char *source_of(apr_pool_t *pool, const struct mst_comparison_prediction *p)
{
    const char *by = strcmp(p->entry.code, MST_LEDGER_BY_USER) == 0 ? " by mpmstat whatif" : "";

    return p->run_count > 1 ? mst_pool_printf(pool, "%s from %zu runs of A", by, p->run_count) :
           mst_pool_printf(pool, "%s from run %" PRId64, by, p->runs[0]);
}

void mst_comparison_put_predictions(const struct mst_doc *doc,
                                    const struct mst_comparison_table *t)
{
    const struct mst_comparison_prediction *p;
    const char *text;
    size_t i, n;

    for (i = 0; i < t->prediction_count; i++) {
        p = &t->predictions[i];
        text = "";
        for (n = 0; n < MST_LEDGER_MEASURES; n++)
            text = add_measure(t->pool, text, p, n);
        if (p->why_not == NULL)
            mst_doc_paragraph(doc, MST_STYLE_PLAIN, "Predicted%s for %s: %s.",
                              source_of(t->pool, p), p->change, text);
        else
            mst_doc_paragraph(doc, MST_STYLE_PLAIN, "B is not the change that was predicted%s, "
                              "%s: %s.", source_of(t->pool, p), p->change, p->why_not);
    }
}

/* ---- JSON -------------------------------------------------------------------------- */

static void put_real(struct mst_json *j, const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.9g", value);
    mst_json_value(j, key);
    mst_sink_puts(j->out, isfinite(value) ? text : "null");
}

static void put_measure(struct mst_json *j, const struct mst_comparison_prediction *p,
                        enum mst_ledger_measure which)
{
    const struct mst_ledger_value *v = &p->entry.values[which];
    double scale = measures[which].scale, came = p->measured[which];
    size_t i;

    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "metric", mst_measure_names[measures[which].measure]);
    put_real(j, "predicted", (double)v->predicted / scale);
    put_real(j, "low", (double)v->low / scale);
    put_real(j, "high", (double)v->high / scale);
    put_real(j, "measured", came / scale);
    mst_json_value(j, "within");
    mst_sink_puts(j->out, isnan(came) ? "null" :
                  came >= (double)v->low && came <= (double)v->high ? "true" : "false");
    mst_json_string(j, "change", p->change);
    mst_json_string(j, "by", p->entry.code);
    mst_json_begin(j, "runs", '[');
    for (i = 0; i < p->run_count; i++) {
        mst_json_value(j, NULL);
        mst_sink_i64(j->out, p->runs[i]);
    }
    mst_json_end(j, ']');
    mst_json_string(j, "why_not", p->why_not);
    mst_json_end(j, '}');
}

void mst_comparison_json_predictions(struct mst_json *j, const struct mst_comparison_table *t)
{
    size_t i, n;

    mst_json_line(j, 1);
    mst_json_begin(j, "predictions", '[');
    for (i = 0; i < t->prediction_count; i++)
        for (n = 0; n < MST_LEDGER_MEASURES; n++)
            if (t->predictions[i].entry.values[n].predicted != MST_UNKNOWN)
                put_measure(j, &t->predictions[i], n);
    mst_json_end(j, ']');
}

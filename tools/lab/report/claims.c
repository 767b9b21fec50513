/* claims.c - checks what the original claims against the runs: see insights.h.
 *
 * A claim compares two stacks by a figure, in each pair of cases that it is about, or a stack with
 * a number. It holds, or does not, where the whole interval says so; else it cannot be told.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/insights.h"
#include "stats/bootstrap.h"

#define ABOUT_SAME 1.10    /* ratios up to here are about the same */
#define APART_ENOUGH 3u    /* repetitions of each side, at least, where the sides do not overlap */

/* ---- which cases ------------------------------------------------------------------ */

static const char *wanted(const struct mst_claim_side *side, const char *key)
{
    size_t i;

    for (i = 0; i < side->key_count; i++)
        if (strcmp(side->keys[i], key) == 0)
            return side->values[i];
    return NULL;
}

static bool is_meant(const struct mst_claim_side *side, const struct mst_study_case *c)
{
    size_t i;

    if (side->stack == NULL || strcmp(side->stack, c->stack) != 0 ||
        (side->workload != NULL && strcmp(side->workload, c->workload) != 0))
        return false;
    for (i = 0; i < side->key_count; i++) {
        const char *value = mst_study_value(c, side->keys[i]);

        if (value == NULL || strcmp(value, side->values[i]) != 0)
            return false;
    }
    return true;
}

/* Whether the two cases differ only in what the claim compares. */
static bool is_counterpart(const struct mst_study_section *section, const struct mst_claim *claim,
                           const struct mst_study_case *left, const struct mst_study_case *right)
{
    size_t i;

    if (claim->left.workload == NULL && claim->right.workload == NULL &&
        strcmp(left->workload, right->workload) != 0)
        return false;
    for (i = 0; i < section->telling_count; i++) {
        const char *key = section->telling[i];
        const char *a = mst_study_value(left, key), *b = mst_study_value(right, key);

        if (wanted(&claim->left, key) == NULL && wanted(&claim->right, key) == NULL &&
            a != NULL && b != NULL && strcmp(a, b) != 0)
            return false;
    }
    return true;
}

/* ---- one pair --------------------------------------------------------------------- */

struct answer {
    enum mst_insight_kind kind;
    char text[512];
};

static struct answer unsure(const char *why)
{
    struct answer answer = { .kind = MST_INSIGHT_UNSURE };

    snprintf(answer.text, sizeof answer.text, "%s", why);
    return answer;
}

/* "1.35 times as much (1.21 to 1.50; 5 repetitions)". */
static void say_ratio(char *text, size_t size, const struct mst_ratio *r,
                      const struct mst_metric *metric)
{
    const char *as = metric->unit == MST_QUANTITY_TIME ? "as long" :
                     metric->unit == MST_QUANTITY_COUNT ? "as many" : "as much";

    snprintf(text, size, "%s times %s (%s to %s; %zu repetitions)", mst_study_ratio(r->ratio).text,
             as, mst_study_ratio(r->low).text, mst_study_ratio(r->high).text,
             r->runs < r->of ? r->runs : r->of);
}

/* Compares the ratio with `times`, or with 1 where the claim names no factor. */
static enum mst_insight_kind judge_ratio(const struct mst_claim *claim, const struct mst_ratio *r)
{
    if (claim->relation == MST_CLAIM_SAME)
        return r->low > ABOUT_SAME || r->high < 1 / ABOUT_SAME ? MST_INSIGHT_FAILS :
               r->low >= 1 / ABOUT_SAME && r->high <= ABOUT_SAME ? MST_INSIGHT_HOLDS :
               MST_INSIGHT_UNSURE;
    if (r->low <= 1 && r->high >= 1)
        return MST_INSIGHT_UNSURE;
    if ((r->low > 1) != (claim->relation == MST_CLAIM_MORE))
        return MST_INSIGHT_FAILS;
    if (claim->times > 0 && (claim->relation == MST_CLAIM_MORE ? r->high < claim->times
                                                               : r->low > claim->times))
        return MST_INSIGHT_FAILS;
    return MST_INSIGHT_HOLDS;
}

/* Why it cannot be told, or in which way it does not hold. */
static const char *remark(const struct mst_claim *claim, const struct mst_ratio *r,
                          enum mst_insight_kind kind)
{
    if (kind == MST_INSIGHT_UNSURE)
        return claim->relation == MST_CLAIM_SAME ? ": the interval reaches beyond 10 %" :
               ": the interval includes 1";
    if (kind == MST_INSIGHT_FAILS && claim->times > 0 &&
        (r->low > 1) == (claim->relation == MST_CLAIM_MORE))
        return ": the same way, but by less than was said";
    return "";
}

/* Where a value is 0, as a count of errors can be, there is no ratio: the claim holds where the two
 * sides do not overlap. */
static struct answer judge_counts(const struct mst_claim *claim, const struct mst_estimate *a,
                                  const struct mst_estimate *b)
{
    bool more = a->least > b->most, less = a->most < b->least;
    bool none = a->most == 0 && b->most == 0;
    struct answer answer = { .kind = MST_INSIGHT_UNSURE };

    if (a->count < APART_ENOUGH || b->count < APART_ENOUGH) {
        snprintf(answer.text, sizeof answer.text, "too few repetitions to tell: it takes %u each",
                 APART_ENOUGH);
    } else if (none) {
        answer.kind = claim->relation == MST_CLAIM_SAME ? MST_INSIGHT_HOLDS : MST_INSIGHT_FAILS;
        snprintf(answer.text, sizeof answer.text, "0 in every repetition of both");
    } else if (!more && !less) {
        snprintf(answer.text, sizeof answer.text, "the repetitions overlap, and some are 0");
    } else {
        answer.kind = claim->relation != MST_CLAIM_SAME &&
                      more == (claim->relation == MST_CLAIM_MORE) ? MST_INSIGHT_HOLDS :
                      MST_INSIGHT_FAILS;
        snprintf(answer.text, sizeof answer.text, "%s in each repetition (%zu and %zu)",
                 more ? "more" : "less", a->count, b->count);
    }
    return answer;
}

static struct answer judge_pair(const struct mst_claim *claim, enum mst_metric_id metric,
                                const struct mst_study_case *left,
                                const struct mst_study_case *right)
{
    const struct mst_metric *m = &mst_metrics[metric];
    struct mst_estimate a = mst_estimate_of(left, metric), b = mst_estimate_of(right, metric);
    struct mst_ratio r = mst_ratio_of(left, right, metric);
    struct answer answer = { .kind = MST_INSIGHT_UNSURE };
    char ratio[160];

    if (a.count == 0 || b.count == 0)
        return unsure("the figure is not known of both");
    if (!r.known)
        return judge_counts(claim, &a, &b);
    if (!r.bounded) {
        snprintf(answer.text, sizeof answer.text, "%s times, but with %zu and %zu repetitions; "
                 "it takes %u each", mst_study_ratio(r.ratio).text, r.runs, r.of,
                 MST_BOOTSTRAP_RUNS_MIN);
        return answer;
    }
    answer.kind = judge_ratio(claim, &r);
    say_ratio(ratio, sizeof ratio, &r, m);
    snprintf(answer.text, sizeof answer.text, "%s%s", ratio, remark(claim, &r, answer.kind));
    return answer;
}

/* ---- a difference ----------------------------------------------------------------- */

/* The values of a case that are known. */
static size_t known_values(const struct mst_study_case *c, enum mst_metric_id metric,
                           double *values)
{
    size_t count = 0, i;

    for (i = 0; i < c->run_count; i++)
        if (isfinite(c->runs[i].values[metric]))
            values[count++] = c->runs[i].values[metric];
    return count;
}

/* `apart N`: the left is N more (or less) than the right, in the figure's own unit. */
static struct answer judge_apart(const struct mst_claim *claim, enum mst_metric_id metric,
                                 double apart, const struct mst_study_case *left,
                                 const struct mst_study_case *right)
{
    double *a = mst_have(calloc(right->run_count + 1, sizeof *a));
    double *b = mst_have(calloc(left->run_count + 1, sizeof *b));
    size_t of_a = known_values(right, metric, a), of_b = known_values(left, metric, b);
    double sign = claim->relation == MST_CLAIM_LESS ? -1 : 1, low, high;
    enum mst_quantity unit = mst_metrics[metric].unit;
    struct mst_confidence i = { 0 };
    struct answer answer = unsure("the figure is not known of both");

    if (of_a > 0 && of_b > 0 && !mst_bootstrap_difference(&i, a, of_a, b, of_b)) {
        snprintf(answer.text, sizeof answer.text, "%s%s, but with %zu and %zu repetitions; it "
                 "takes %u each", i.ratio < 0 ? "-" : "", mst_study_format(unit,
                 fabs(i.ratio)).text, of_b, of_a, MST_BOOTSTRAP_RUNS_MIN);
    } else if (of_a > 0 && of_b > 0) {
        low = fmin(sign * i.low, sign * i.high);
        high = fmax(sign * i.low, sign * i.high);
        answer.kind = low > 0 && low <= apart && high >= apart ? MST_INSIGHT_HOLDS :
                      high < apart || low > apart ? MST_INSIGHT_FAILS : MST_INSIGHT_UNSURE;
        snprintf(answer.text, sizeof answer.text, "%s%s apart (%s%s to %s%s; %zu repetitions), "
                 "%s was said%s", sign * i.ratio < 0 ? "-" : "",
                 mst_study_format(unit, fabs(i.ratio)).text,
                 low < 0 ? "-" : "", mst_study_format(unit, fabs(low)).text,
                 high < 0 ? "-" : "", mst_study_format(unit, fabs(high)).text,
                 of_a < of_b ? of_a : of_b, mst_study_format(unit, apart).text,
                 high < 0 ? ": it is the other way round" :
                 low > 0 && high < apart ? ": the same way, but less" :
                 low > apart ? ": the same way, and more" :
                 high < apart ? ": it is less, if it is anything" :
                 answer.kind == MST_INSIGHT_UNSURE ? ": the interval includes 0" : "");
    }
    free(a);
    free(b);
    return answer;
}

/* ---- a number --------------------------------------------------------------------- */

/* "98.1/s to 103/s in 3 repetitions". */
static void say_range(char *text, size_t size, enum mst_quantity unit, double low, double high,
                      size_t count)
{
    const char *few = count < MST_BOOTSTRAP_RUNS_MIN ? ": too few to tell" : "";

    if (low < high)
        snprintf(text, size, "%s to %s in %zu repetitions%s", mst_study_format(unit, low).text,
                 mst_study_format(unit, high).text, count, few);
    else
        snprintf(text, size, "the same in each of %zu repetition%s%s", count,
                 count == 1 ? "" : "s", few);
}

static struct answer judge_number(const struct mst_claim *claim, enum mst_metric_id metric,
                                  double number, const struct mst_study_case *left)
{
    struct mst_estimate e = mst_estimate_of(left, metric);
    double slack = claim->relation == MST_CLAIM_SAME ? ABOUT_SAME : 1;
    double low = isnan(e.low) ? e.least : e.low, high = isnan(e.high) ? e.most : e.high;
    struct answer answer = { .kind = MST_INSIGHT_UNSURE };
    bool above, below;

    if (e.count == 0)
        return unsure("the figure is not known");
    /* A value that equals the number is neither more nor less: neither claim holds. */
    above = low > number * slack || (claim->relation == MST_CLAIM_LESS && low >= number);
    below = high < number / slack || (claim->relation == MST_CLAIM_MORE && high <= number);
    if (claim->relation == MST_CLAIM_SAME)
        answer.kind = above || below ? MST_INSIGHT_FAILS :
                      low >= number / slack && high <= number * slack ? MST_INSIGHT_HOLDS :
                      MST_INSIGHT_UNSURE;
    else if (above || below)
        answer.kind = above == (claim->relation == MST_CLAIM_MORE) ? MST_INSIGHT_HOLDS :
                                                                     MST_INSIGHT_FAILS;
    if (e.count < MST_BOOTSTRAP_RUNS_MIN)
        answer.kind = MST_INSIGHT_UNSURE;
    say_range(answer.text, sizeof answer.text, mst_metrics[metric].unit, low, high, e.count);
    return answer;
}

/* ---- a claim ---------------------------------------------------------------------- */

/* One pair of cases that a claim is about, and what came of it. */
struct pair {
    const struct mst_study_section *section;
    enum mst_metric_id metric;
    const struct mst_study_case *left, *right;     /* right NULL: a number */
    struct answer answer;
};

/* All pairs that one sentence is about; of each kind the first. */
struct verdict {
    size_t pairs, counts[MST_INSIGHT_KINDS];
    struct pair first[MST_INSIGHT_KINDS];
};

static void count_pair(struct verdict *v, const struct pair *pair)
{
    v->pairs++;
    if (v->counts[pair->answer.kind]++ == 0)
        v->first[pair->answer.kind] = *pair;
}

/* Compares the left case with each of its counterparts. */
static void judge_case(struct verdict *v, const struct mst_study_section *section,
                       const struct mst_claim *claim, const struct mst_study_case *left)
{
    double scale;
    struct pair pair = { section, mst_study_metric_find(claim->figure, &scale), left, NULL,
                         { 0 } };
    size_t i;

    if (claim->right.stack == NULL) {
        pair.answer = judge_number(claim, pair.metric, claim->right.number * scale, left);
        count_pair(v, &pair);
        return;
    }
    for (i = 0; i < section->case_count; i++) {
        pair.right = &section->cases[i];
        if (left == pair.right || !is_meant(&claim->right, pair.right) ||
            !is_counterpart(section, claim, left, pair.right))
            continue;
        pair.answer = claim->apart > 0 ?
                      judge_apart(claim, pair.metric, claim->apart * scale, left, pair.right) :
                      judge_pair(claim, pair.metric, left, pair.right);
        count_pair(v, &pair);
    }
}

static void judge_claim(struct verdict *v, const struct mst_study_section *section,
                        const struct mst_claim *claim)
{
    size_t i;

    for (i = 0; i < section->case_count; i++)
        if (is_meant(&claim->left, &section->cases[i]))
            judge_case(v, section, claim, &section->cases[i]);
}

/* A claim that fails in one case does not hold; one that cannot be told in most cases cannot be
 * told. */
static enum mst_insight_kind kind_of(const struct verdict *v)
{
    if (v->counts[MST_INSIGHT_FAILS] > 0)
        return MST_INSIGHT_FAILS;
    return v->counts[MST_INSIGHT_HOLDS] > v->counts[MST_INSIGHT_UNSURE] ? MST_INSIGHT_HOLDS :
                                                                        MST_INSIGHT_UNSURE;
}

/* "mean response: 1.02 s with prefork, 1.04 s with event: 0.98 times as long (...)". */
static const char *say_pair(const struct pair *pair)
{
    const struct mst_metric *m = &mst_metrics[pair->metric];
    apr_pool_t *pool = pair->section->pool;
    const char *a = mst_study_label(pair->section, pair->left);
    const char *b = pair->right != NULL ? mst_study_label(pair->section, pair->right) : "";
    struct mst_formatted left = mst_study_format(m->unit,
                                                 mst_estimate_of(pair->left, pair->metric).mean);

    if (pair->left->run_count == 0 || (pair->right != NULL && pair->right->run_count == 0))
        return mst_pool_printf(pool, "%s was not run", pair->left->run_count == 0 ? a : b);
    if (pair->right == NULL)
        return mst_pool_printf(pool, "%s: %s with %s; %s", m->study_label, left.text, a,
                               pair->answer.text);
    return mst_pool_printf(pool, "%s: %s with %s, %s with %s; %s", m->study_label, left.text, a,
                           mst_study_format(m->unit, mst_estimate_of(pair->right,
                           pair->metric).mean).text, b, pair->answer.text);
}

/* "In 2 of 4 cases it holds, in 1 it does not". */
static void say_counts(char *text, size_t size, const struct verdict *v)
{
    static const struct { enum mst_insight_kind kind; const char *word; } parts[] = {
        { MST_INSIGHT_HOLDS, "it holds" }, { MST_INSIGHT_FAILS, "it does not" },
        { MST_INSIGHT_UNSURE, "it cannot be told" },
    };
    size_t used = 0, i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t count = v->counts[parts[i].kind];

        if (count == v->pairs)
            snprintf(text, size, "In each of %zu cases %s", count, parts[i].word);
        else if (count > 0 && used == 0)
            used += (size_t)snprintf(text, size, "In %zu of %zu cases %s", count, v->pairs,
                                     parts[i].word);
        else if (count > 0)
            used += (size_t)snprintf(text + used, size - used, ", in %zu %s", count,
                                     parts[i].word);
    }
}

/* The counts, and the first case of the kind that decided. */
static const char *say_verdict(const struct verdict *v, enum mst_insight_kind kind)
{
    apr_pool_t *pool = v->first[kind].section->pool;
    const char *one = say_pair(&v->first[kind]);
    char counts[160] = "";

    say_counts(counts, sizeof counts, v);
    if (v->pairs == 1)
        return apr_pstrcat(pool, one, ".", NULL);
    return mst_pool_printf(pool, "%s. %s %s.", counts, v->counts[kind] == v->pairs ?
                           "The first:" : kind == MST_INSIGHT_HOLDS ? "It holds so:" :
                           kind == MST_INSIGHT_FAILS ? "It does not here:" :
                           "It cannot be told here:", one);
}

static const struct mst_study_section *section_of(const struct mst_study_data *data,
                                                  const struct mst_claim *claim)
{
    size_t i;

    for (i = 0; i < data->section_count; i++)
        if (strcmp(data->sections[i].runs->name, claim->runs) == 0)
            return &data->sections[i];
    return NULL;
}

/* Claims with the same sentence are one claim about several cases. */
static bool is_repeated(const struct mst_study *study, size_t claim)
{
    size_t i;

    for (i = 0; i < claim; i++)
        if (strcmp(study->claims[i].sentence, study->claims[claim].sentence) == 0)
            return true;
    return false;
}

static void add_claim(struct mst_insights *findings, const struct mst_study_data *data,
                      size_t claim)
{
    const struct mst_claim *claims = data->study.claims;
    const char *sentence = claims[claim].sentence;
    struct verdict v = { 0 };
    double scale;
    size_t i;

    for (i = claim; i < data->study.claim_count; i++) {
        if (strcmp(claims[i].sentence, sentence) != 0)
            continue;
        if (mst_study_metric_find(claims[i].figure, &scale) == MST_M_COUNT) {
            mst_insights_add(findings, MST_INSIGHT_UNSURE, section_of(data, &claims[i]), sentence,
                             mst_pool_printf(data->pool, "\"%s\" is not a figure that mpmstat "
                                             "measures.", claims[i].figure));
            return;
        }
        judge_claim(&v, section_of(data, &claims[i]), &claims[i]);
    }
    mst_insights_add(findings, kind_of(&v), section_of(data, &claims[claim]), sentence,
                     v.pairs > 0 ? say_verdict(&v, kind_of(&v))
                                 : "No case that it is about is in this study as it was run.");
}

void mst_insights_of_claims(struct mst_insights *findings, const struct mst_study_data *data)
{
    size_t i;

    for (i = 0; i < data->study.claim_count; i++)
        if (!is_repeated(&data->study, i))
            add_claim(findings, data, i);
}

/* unmeasured.c - what the original did not measure: see insights.h.
 *
 * Each line of cases is represented by its heaviest case that was run; of these the two that are
 * furthest apart are named. The tables have the rest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/parts.h"
#include "lab/report/report.h"

#define WORTH_TELLING 0.05     /* smaller shares of the time are left out */
#define ALIKE         1.05     /* up to this factor it is "about" one value */
#define TAIL_FACTOR   3.0      /* times the median: with a longer p99 a mean misleads */

/* ---- extremes --------------------------------------------------------------------- */

/* A metric divided by another, or as it is (over: MST_M_COUNT). */
struct subject { enum mst_metric_id metric, over; };

/* PHP may go on running while the answer is sent. */
static double value_in(const double *values, enum mst_metric_id metric)
{
    double later = metric == MST_M_PHP_RUN ? values[MST_M_SEND_PHP] : 0;

    return values[metric] + (isfinite(later) ? later : 0);
}

/* Over all repetitions together, so that the parts of a time add up; the geometric means in the
 * tables do not. */
static double share_of(const struct mst_study_case *c, struct subject subject)
{
    double part = 0, whole = 0;
    size_t i;

    for (i = 0; i < c->run_count; i++) {
        double value = value_in(c->runs[i].values, subject.metric);
        double over = c->runs[i].values[subject.over];

        if (!isfinite(value) || !isfinite(over))
            continue;
        part += value;
        whole += over;
    }
    return part / whole;
}

static double value_of(const struct mst_study_case *c, struct subject subject)
{
    return subject.over == MST_M_COUNT ? mst_estimate_of(c, subject.metric).mean
                                       : share_of(c, subject);
}

struct extremes {
    const struct mst_study_case *least_case, *most_case;
    double least, most;
    size_t known;
};

static struct extremes extremes_of(const struct mst_study_section *section, struct subject subject)
{
    struct extremes e = { 0 };
    size_t i;

    for (i = 0; i < section->line_count; i++) {
        const struct mst_study_case *c = mst_study_heaviest(section, i);
        double value = c != NULL ? value_of(c, subject) : NAN;

        if (!isfinite(value))
            continue;
        if (e.known == 0 || value < e.least) {
            e.least = value;
            e.least_case = c;
        }
        if (e.known == 0 || value > e.most) {
            e.most = value;
            e.most_case = c;
        }
        e.known++;
    }
    return e;
}

/* "from 3.2 % (event) to 91 % (prefork)"; of one only "91 % (prefork)"; "about 3.2 %". */
static char *say_extremes(const struct mst_study_section *section, const struct extremes *e,
                          enum mst_quantity unit)
{
    char *least = mst_study_label(section, e->least_case);
    char *most = mst_study_label(section, e->most_case), *text = NULL;

    if (least != NULL && most != NULL && e->known == 1)
        text = mst_insight_text("%s (%s)", mst_study_format(unit, e->most).text, most);
    else if (least != NULL && most != NULL && e->most <= e->least * ALIKE)
        text = mst_insight_text("about %s", mst_study_format(unit, e->most).text);
    else if (least != NULL && most != NULL)
        text = mst_insight_text("from %s (%s) to %s (%s)", mst_study_format(unit, e->least).text,
                               least, mst_study_format(unit, e->most).text, most);
    free(least);
    free(most);
    return text;
}

static int add(struct mst_insights *findings, const struct mst_study_section *section, char *text)
{
    return mst_insights_add(findings, MST_INSIGHT_UNMEASURED, section, NULL, text);
}

/* Adds "BEFORE EXTREMES AFTER". */
static int add_extremes(struct mst_insights *findings, const struct mst_study_section *section,
                        const struct extremes *e, enum mst_quantity unit, const char *before,
                        const char *after)
{
    char *extremes = say_extremes(section, e, unit), *text = NULL;

    if (extremes != NULL)
        text = mst_insight_text("%s %s%s.", before, extremes, after);
    free(extremes);
    return add(findings, section, text);
}

/* ---- where the time went ---------------------------------------------------------- */

/* A part of a whole, which is told where some run has one above WORTH_TELLING. */
struct share {
    struct subject subject;
    const char    *before, *after;
};

static int say_shares(struct mst_insights *findings, const struct mst_study_section *section,
                      const struct share *shares, size_t count)
{
    int failed = 0;
    size_t i;

    for (i = 0; i < count && !failed; i++) {
        struct extremes e = extremes_of(section, shares[i].subject);

        if (e.known > 0 && e.most >= WORTH_TELLING)
            failed = add_extremes(findings, section, &e, MST_QUANTITY_SHARE, shares[i].before,
                                  shares[i].after);
    }
    return failed;
}

static int say_time(struct mst_insights *findings, const struct mst_study_section *section)
{
    static const char after[] = " of a request's time at the server";
    static const struct share parts[] = {
        { { MST_M_QUEUE, MST_M_SERVER_MEAN }, "Waiting for one of Apache's workers took", after },
        { { MST_M_PHP_WAIT, MST_M_SERVER_MEAN }, "Waiting for a PHP worker took", after },
        { { MST_M_PHP_RUN, MST_M_SERVER_MEAN }, "Running PHP took", after },
    };

    return say_shares(findings, section, parts, sizeof parts / sizeof *parts);
}

static int say_tail(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes e = extremes_of(section, (struct subject){ MST_M_P99, MST_M_P50 });

    if (e.known == 0 || e.most < TAIL_FACTOR)
        return 0;
    return add_extremes(findings, section, &e, MST_QUANTITY_MEAN, "A mean hides the slowest: "
                        "p99 is", " times the median");
}

static int say_occupancy(struct mst_insights *findings, const struct mst_study_section *section)
{
    static const char after[] = " of the time that the load took";
    static const struct share sides[] = {
        { { MST_M_NO_IDLE, MST_M_TAKEN }, "All of Apache's workers were taken for", after },
        { { MST_M_PHP_NO_IDLE, MST_M_TAKEN }, "All of PHP's workers were taken for", after },
    };

    return say_shares(findings, section, sides, sizeof sides / sizeof *sides);
}

/* ---- failures --------------------------------------------------------------------- */

struct sums { double requests, failed, of_length, answered, errors, least, most; };

static struct sums sum_failures(const struct mst_study_section *section)
{
    struct sums s = { .least = NAN, .most = NAN };
    size_t i, k;

    for (i = 0; i < section->case_count; i++)
        for (k = 0; k < section->cases[i].run_count; k++) {
            const double *v = section->cases[i].runs[k].values;

            if (!isfinite(v[MST_M_FAILED]))
                continue;
            s.requests += v[MST_M_REQUESTS];
            s.failed += v[MST_M_FAILED];
            s.of_length += isfinite(v[MST_M_FAILED_LENGTH]) ? v[MST_M_FAILED_LENGTH] : 0;
            s.answered += isfinite(v[MST_M_SERVER_REQUESTS]) ? v[MST_M_SERVER_REQUESTS] : 0;
            s.errors += isfinite(v[MST_M_5XX]) ? v[MST_M_5XX] : 0;
            s.least = fmin(isnan(s.least) ? INFINITY : s.least, isfinite(v[MST_M_PAGE_MIN]) ?
                           v[MST_M_PAGE_MIN] : INFINITY);
            s.most = fmax(isnan(s.most) ? 0 : s.most, isfinite(v[MST_M_PAGE_MAX]) ?
                          v[MST_M_PAGE_MAX] : 0);
        }
    return s;
}

/* ab compares each answer's length with the first one's. */
static int say_failures(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct sums s = sum_failures(section);
    char pages[96] = "";

    if (s.of_length == 0)
        return 0;
    if (s.most > s.least)
        snprintf(pages, sizeof pages, "; the pages were of %.0f to %.0f bytes", s.least, s.most);
    return add(findings, section, mst_insight_text(
        "The load tool calls %.0f of %.0f requests failed: %.0f of them only because the answer "
        "was of another length than the first one%s. The server answered %.0f, %.0f with a 5xx: "
        "%s.", s.failed, s.requests, s.of_length, pages, s.answered, s.errors,
        s.failed == s.of_length && s.errors == 0 ? "none of them was a failure" :
        "what remains are failures"));
}

/* ---- memory, processes, CPU ------------------------------------------------------- */

/* Whether it is the first case of its stack, and the stack has a server that was not recorded. */
static bool is_first_in_part(const struct mst_study_section *section, size_t i)
{
    size_t k;

    for (k = 0; k < i; k++)
        if (section->cases[k].in_part &&
            strcmp(section->cases[k].stack, section->cases[i].stack) == 0)
            return false;
    return section->cases[i].in_part;
}

/* Names the stacks that the sentences about all processes leave out, and says why. */
static int say_in_part(struct mst_insights *findings, const struct mst_study_section *section)
{
    char *titles = NULL, *more;
    int failed = 0;
    size_t i;

    for (i = 0; i < section->case_count && !failed; i++) {
        if (!is_first_in_part(section, i))
            continue;
        more = mst_insight_text("%s%s%s", titles != NULL ? titles : "",
                               titles != NULL ? ", of " : "", section->cases[i].title);
        free(titles);
        titles = more;
        failed = more == NULL;
    }
    if (titles != NULL)
        failed = add(findings, section, mst_insight_text(
            "Memory and CPU time of all processes together are not known of %s: not every server "
            "there was recorded (nginx cannot be).", titles));
    free(titles);
    return failed;
}

static int say_memory(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes pss = extremes_of(section, (struct subject){ MST_M_PSS, MST_M_COUNT });
    struct extremes each = extremes_of(section, (struct subject){ MST_M_PSS_EACH, MST_M_COUNT });
    struct extremes more = extremes_of(section, (struct subject){ MST_M_RSS, MST_M_PSS });
    char after[160] = "";
    int failed = 0;

    if (more.known > 0 && more.most > 1 + WORTH_TELLING)
        snprintf(after, sizeof after, "; adding up RSS, as is usual, would have said up to %s "
                 "times as much", mst_study_ratio(more.most).text);
    if (pss.known > 0)
        failed = add_extremes(findings, section, &pss, MST_QUANTITY_BYTES, "At their peak all "
                              "processes together took (PSS: what is shared counts once)", after);
    if (each.known > 0 && !failed)
        failed = add_extremes(findings, section, &each, MST_QUANTITY_BYTES, "A process took", "");
    return failed;
}

static int say_machine(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes busy = extremes_of(section, (struct subject){ MST_M_MACHINE, MST_M_COUNT });

    if (busy.known == 0)
        return 0;
    return add_extremes(findings, section, &busy, MST_QUANTITY_SHARE,
                        "The machine's CPUs were busy for", " of the time");
}

static int say_processes(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes forks = extremes_of(section, (struct subject){ MST_M_FORKS_EACH,
                                                                   MST_M_COUNT });
    struct extremes cpu = extremes_of(section, (struct subject){ MST_M_CPU_EACH, MST_M_COUNT });
    int failed = 0;

    if (forks.known > 0 && forks.most >= WORTH_TELLING)
        failed = add_extremes(findings, section, &forks, MST_QUANTITY_MEAN,
                              "For each request processes were forked:", "");
    if (cpu.known > 0 && !failed)
        failed = add_extremes(findings, section, &cpu, MST_QUANTITY_TIME,
                              "CPU time for a request, at the servers:", "");
    return failed;
}

/* ---- what else weighed ------------------------------------------------------------ */

/* Repetitions of the section in which the metric is above 0. */
static size_t count_runs(const struct mst_study_section *section, enum mst_metric_id metric,
                         size_t *known)
{
    size_t above = 0, i, k;

    *known = 0;
    for (i = 0; i < section->case_count; i++)
        for (k = 0; k < section->cases[i].run_count; k++) {
            double value = section->cases[i].runs[k].values[metric];

            *known += isfinite(value);
            above += isfinite(value) && value > 0;
        }
    return above;
}

static int say_limits(struct mst_insights *findings, const struct mst_study_section *section)
{
    static const struct { enum mst_metric_id metric; const char *text; } limits[] = {
        { MST_M_GENERATOR, "the load tool itself was at its limit: their throughput is the load "
                           "tool's, not the server's" },
        { MST_M_OVERFLOWS, "connections found an accept queue full, and had to try again after "
                           "0.2 s or more: such waits are in no server's time" },
    };
    size_t known, above, i;
    int failed = 0;

    for (i = 0; i < sizeof limits / sizeof *limits && !failed; i++) {
        above = count_runs(section, limits[i].metric, &known);
        if (above > 0)
            failed = add(findings, section, mst_insight_text(
                "In %zu of %zu runs %s.", above, known, limits[i].text));
    }
    return failed;
}

/* ---- spawning --------------------------------------------------------------------- */

static int say_spawning(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes rate = extremes_of(section, (struct subject){ MST_M_SPAWN_RATE, MST_M_COUNT });
    struct extremes first = extremes_of(section, (struct subject){ MST_M_SPAWN_FIRST,
                                                                   MST_M_COUNT });
    struct extremes all = extremes_of(section, (struct subject){ MST_M_SPAWN_ALL, MST_M_COUNT });
    int failed = 0;

    if (first.known > 0)
        failed = add_extremes(findings, section, &first, MST_QUANTITY_TIME,
                              "From the first request to the first fork it took", "");
    if (rate.known > 0 && !failed)
        failed = add_extremes(findings, section, &rate, MST_QUANTITY_RATE, "Between a tenth and "
                              "nine tenths of them, processes came at", "");
    if (all.known > 0 && !failed)
        failed = add_extremes(findings, section, &all, MST_QUANTITY_TIME,
                              "All were there after", "");
    return failed;
}

/* Which sentences are made depends on the kind of the runs. */
int mst_insights_unmeasured(struct mst_insights *findings, const struct mst_study_section *section)
{
    enum mst_runs_kind kind = section->runs->kind;

    if (kind == MST_RUNS_SPAWN)
        return say_spawning(findings, section) != 0 || say_limits(findings, section) != 0 ? -1 : 0;
    if (say_failures(findings, section) != 0 || say_time(findings, section) != 0 ||
        (kind == MST_RUNS_LOAD && say_tail(findings, section) != 0) ||
        say_occupancy(findings, section) != 0 || say_memory(findings, section) != 0 ||
        say_in_part(findings, section) != 0)
        return -1;
    return say_machine(findings, section) != 0 || say_processes(findings, section) != 0 ||
           say_limits(findings, section) != 0 ? -1 : 0;
}

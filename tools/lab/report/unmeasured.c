/* unmeasured.c - what the original did not measure: see insights.h.
 *
 * Each line of cases is represented by its heaviest case that was run; of these the two that are
 * furthest apart are named. The tables have the rest.
 */
#include <math.h>
#include <stdio.h>
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
static const char *say_extremes(const struct mst_study_section *section, const struct extremes *e,
                                enum mst_quantity unit)
{
    const char *least = mst_study_label(section, e->least_case);
    const char *most = mst_study_label(section, e->most_case);

    if (e->known == 1)
        return mst_pool_printf(section->pool, "%s (%s)", mst_study_format(unit, e->most).text,
                               most);
    if (e->most <= e->least * ALIKE)
        return mst_pool_printf(section->pool, "about %s", mst_study_format(unit, e->most).text);
    return mst_pool_printf(section->pool, "from %s (%s) to %s (%s)",
                           mst_study_format(unit, e->least).text, least,
                           mst_study_format(unit, e->most).text, most);
}

static void add_unmeasured(struct mst_insights *findings, const struct mst_study_section *section,
                           const char *text)
{
    mst_insights_add(findings, MST_INSIGHT_UNMEASURED, section, NULL, text);
}

/* Adds "BEFORE EXTREMES AFTER"; nothing where none is known. */
static void add_extremes(struct mst_insights *findings, const struct mst_study_section *section,
                         const struct extremes *e, enum mst_quantity unit, const char *before,
                         const char *after)
{
    if (e->known > 0)
        add_unmeasured(findings, section,
                       apr_pstrcat(section->pool, before, " ", say_extremes(section, e, unit),
                                   after, ".", NULL));
}

/* ---- where the time went ---------------------------------------------------------- */

/* A part of a whole, which is told where some run has one above WORTH_TELLING. */
struct share {
    struct subject subject;
    const char    *before, *after;
};

static void say_shares(struct mst_insights *findings, const struct mst_study_section *section,
                       const struct share *shares, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        struct extremes e = extremes_of(section, shares[i].subject);

        if (e.most >= WORTH_TELLING)
            add_extremes(findings, section, &e, MST_QUANTITY_SHARE, shares[i].before,
                         shares[i].after);
    }
}

static void say_time(struct mst_insights *findings, const struct mst_study_section *section)
{
    static const char after[] = " of a request's time at the server";
    static const struct share parts[] = {
        { { MST_M_QUEUE, MST_M_SERVER_MEAN }, "Waiting for one of Apache's workers took", after },
        { { MST_M_PHP_WAIT, MST_M_SERVER_MEAN }, "Waiting for a PHP worker took", after },
        { { MST_M_PHP_RUN, MST_M_SERVER_MEAN }, "Running PHP took", after },
    };

    say_shares(findings, section, parts, sizeof parts / sizeof *parts);
}

static void say_tail(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes e = extremes_of(section, (struct subject){ MST_M_P99, MST_M_P50 });

    if (e.most >= TAIL_FACTOR)
        add_extremes(findings, section, &e, MST_QUANTITY_MEAN, "A mean hides the slowest: p99 is",
                     " times the median");
}

static void say_occupancy(struct mst_insights *findings, const struct mst_study_section *section)
{
    static const char after[] = " of the time that the load took";
    static const struct share sides[] = {
        { { MST_M_NO_IDLE, MST_M_TAKEN }, "All of Apache's workers were taken for", after },
        { { MST_M_PHP_NO_IDLE, MST_M_TAKEN }, "All of PHP's workers were taken for", after },
    };

    say_shares(findings, section, sides, sizeof sides / sizeof *sides);
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
static void say_failures(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct sums s = sum_failures(section);
    char pages[96] = "";

    if (s.of_length == 0)
        return;
    if (s.most > s.least)
        snprintf(pages, sizeof pages, "; the pages were of %.0f to %.0f bytes", s.least, s.most);
    add_unmeasured(findings, section, mst_pool_printf(section->pool,
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
static void say_in_part(struct mst_insights *findings, const struct mst_study_section *section)
{
    const char *titles = NULL;
    size_t i;

    for (i = 0; i < section->case_count; i++)
        if (is_first_in_part(section, i))
            titles = titles == NULL ? section->cases[i].title
                     : apr_pstrcat(section->pool, titles, ", of ", section->cases[i].title, NULL);
    if (titles != NULL)
        add_unmeasured(findings, section, mst_pool_printf(section->pool,
            "Memory and CPU time of all processes together are not known of %s: not every server "
            "there was recorded (nginx cannot be).", titles));
}

static void say_memory(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes pss = extremes_of(section, (struct subject){ MST_M_PSS, MST_M_COUNT });
    struct extremes each = extremes_of(section, (struct subject){ MST_M_PSS_EACH, MST_M_COUNT });
    struct extremes more = extremes_of(section, (struct subject){ MST_M_RSS, MST_M_PSS });
    char after[160] = "";

    if (more.most > 1 + WORTH_TELLING)
        snprintf(after, sizeof after, "; adding up RSS, as is usual, would have said up to %s "
                 "times as much", mst_study_ratio(more.most).text);
    add_extremes(findings, section, &pss, MST_QUANTITY_BYTES, "At their peak all processes "
                 "together took (PSS: what is shared counts once)", after);
    add_extremes(findings, section, &each, MST_QUANTITY_BYTES, "A process took", "");
}

static void say_machine(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes busy = extremes_of(section, (struct subject){ MST_M_MACHINE, MST_M_COUNT });

    add_extremes(findings, section, &busy, MST_QUANTITY_SHARE, "The machine's CPUs were busy for",
                 " of the time");
}

static void say_processes(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes forks = extremes_of(section, (struct subject){ MST_M_FORKS_EACH,
                                                                   MST_M_COUNT });
    struct extremes cpu = extremes_of(section, (struct subject){ MST_M_CPU_EACH, MST_M_COUNT });

    if (forks.most >= WORTH_TELLING)
        add_extremes(findings, section, &forks, MST_QUANTITY_MEAN,
                     "For each request processes were forked:", "");
    add_extremes(findings, section, &cpu, MST_QUANTITY_TIME,
                 "CPU time for a request, at the servers:", "");
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

static void say_limits(struct mst_insights *findings, const struct mst_study_section *section)
{
    static const struct { enum mst_metric_id metric; const char *text; } limits[] = {
        { MST_M_GENERATOR, "the load tool itself was at its limit: their throughput is the load "
                           "tool's, not the server's" },
        { MST_M_OVERFLOWS, "connections found an accept queue full, and had to try again after "
                           "0.2 s or more: such waits are in no server's time" },
    };
    size_t known, above, i;

    for (i = 0; i < sizeof limits / sizeof *limits; i++) {
        above = count_runs(section, limits[i].metric, &known);
        if (above > 0)
            add_unmeasured(findings, section, mst_pool_printf(section->pool,
                           "In %zu of %zu runs %s.", above, known, limits[i].text));
    }
}

/* ---- spawning --------------------------------------------------------------------- */

static void say_spawning(struct mst_insights *findings, const struct mst_study_section *section)
{
    struct extremes rate = extremes_of(section, (struct subject){ MST_M_SPAWN_RATE, MST_M_COUNT });
    struct extremes first = extremes_of(section, (struct subject){ MST_M_SPAWN_FIRST,
                                                                   MST_M_COUNT });
    struct extremes all = extremes_of(section, (struct subject){ MST_M_SPAWN_ALL, MST_M_COUNT });

    add_extremes(findings, section, &first, MST_QUANTITY_TIME,
                 "From the first request to the first fork it took", "");
    add_extremes(findings, section, &rate, MST_QUANTITY_RATE,
                 "Between a tenth and nine tenths of them, processes came at", "");
    add_extremes(findings, section, &all, MST_QUANTITY_TIME, "All were there after", "");
}

/* Which sentences are made depends on the kind of the runs. */
void mst_insights_unmeasured(struct mst_insights *findings,
                             const struct mst_study_section *section)
{
    enum mst_runs_kind kind = section->runs->kind;

    if (kind == MST_RUNS_SPAWN) {
        say_spawning(findings, section);
        say_limits(findings, section);
        return;
    }
    say_failures(findings, section);
    say_time(findings, section);
    if (kind == MST_RUNS_LOAD)
        say_tail(findings, section);
    say_occupancy(findings, section);
    say_memory(findings, section);
    say_in_part(findings, section);
    say_machine(findings, section);
    say_processes(findings, section);
    say_limits(findings, section);
}

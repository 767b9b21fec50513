/* comparison_differences.c - what should be equal on both sides of a comparison, and is not: see
 * comparison_steps.h. What forbids the comparison is an obstacle, all else a warning.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "report/comparison_steps.h"
#include "segment/format.h"

/* ---- sentences ------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static void forbid(struct mst_comparison_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mst_list_addv(t->pool, &t->obstacles, format, args);
    va_end(args);
}

__attribute__((format(printf, 2, 3)))
static void warn(struct mst_comparison_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mst_list_addv(t->pool, &t->warnings, format, args);
    va_end(args);
}

struct place { char text[40]; };

/* "A", or of several runs "run 3 of A". */
static struct place place_of(const struct mst_comparison_table *t,
                             const struct mst_compare_run *run)
{
    bool of_a = run >= t->a.runs && run < t->a.runs + t->a.count;
    struct place place = { { of_a ? 'A' : 'B' } };

    if ((of_a ? t->a.count : t->b.count) > 1)
        snprintf(place.text, sizeof place.text, "run %" PRId64 " of %c", run->summary.id,
                 of_a ? 'A' : 'B');
    return place;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const char *shown(const char *text)
{
    return text != NULL ? text : "(not known)";
}

/* Says how two runs differ. False: they do not. */
typedef bool differs_t(struct mst_comparison_table *t, const struct mst_compare_run *first,
                       const struct mst_compare_run *other);

/* Compares the first run of A with each other run, those of A first, until two differ: one such
 * pair is enough. */
static void compare_runs(struct mst_comparison_table *t, differs_t *differs)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < sides[k]->count; i++)
            if (differs(t, &t->a.runs[0], &sides[k]->runs[i]))
                return;
}

/* ---- answers --------------------------------------------------------------------- */

/* Of all runs of a side. */
struct answers {
    uint64_t all, bad;               /* bad: failed, or had another status than 2xx */
    uint64_t status;                 /* the most frequent of bad ones; MST_UNKNOWN */
    uint64_t bytes, of;              /* bodies of so many answers */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The load tool's count or the server's, whichever has seen more of it. */
static struct answers answers_of(const struct mst_compare_side *side)
{
    struct answers answers = { .status = MST_UNKNOWN };
    size_t i;

    for (i = 0; i < side->count; i++) {
        const struct mst_summary *s = &side->runs[i].summary;
        const struct mst_summary_all fronts = mst_summary_fronts(s);
        const struct mst_summary_server *front = mst_summary_front(s);
        uint64_t bad = larger(s->client.known ? mst_summary_failures(&s->client) : 0,
                              fronts.non_2xx);

        answers.bad += bad;
        answers.all += larger(bad, larger(mst_known(s->client.requests), fronts.requests));
        if (answers.status == MST_UNKNOWN)
            answers.status = side->runs[i].status;
        if (front != NULL && front->bytes != MST_UNKNOWN) {
            answers.bytes += front->bytes;
            answers.of += front->requests;
        }
    }
    return answers;
}

static uint64_t bad_milli(const struct answers *answers)
{
    return answers->all > 0 ? mst_milli(answers->bad, answers->all) : 0;
}

static bool is_redirect(const struct answers *answers)
{
    return answers->status >= 300 && answers->status < 400;
}

struct said { char text[96]; };

/* "none of A", "600 of 600 of B, most often 503". */
static struct said say_bad(const struct answers *answers, char letter)
{
    struct said said;
    char often[40] = "";

    if (answers->status != MST_UNKNOWN)
        snprintf(often, sizeof often, ", most often %" PRIu64, answers->status);
    if (answers->bad == 0)
        snprintf(said.text, sizeof said.text, "none of %c", letter);
    else
        snprintf(said.text, sizeof said.text, "%" PRIu64 " of %" PRIu64 " of %c%s", answers->bad,
                 answers->all, letter, often);
    return said;
}

/* Redirects on both sides can be what is to be compared. */
static bool forbids(const struct answers *a, const struct answers *b)
{
    uint64_t of_a = bad_milli(a), of_b = bad_milli(b);
    uint64_t apart = of_a > of_b ? of_a - of_b : of_b - of_a;

    if (larger(of_a, of_b) < MST_FAILURES_FIRST_MILLI)
        return false;
    return apart >= MST_FAILURES_FIRST_MILLI || !is_redirect(a) || !is_redirect(b);
}

static void compare_statuses(struct mst_comparison_table *t)
{
    const struct answers a = answers_of(&t->a), b = answers_of(&t->b);
    struct said first = say_bad(&b, 'B'), second = say_bad(&a, 'A');

    if (a.bad + b.bad == 0)
        return;
    if (b.bad == 0) {
        first = say_bad(&a, 'A');
        second = say_bad(&b, 'B');
    }
    (forbids(&a, &b) ? forbid : warn)(t, "requests failed or had another status than 2xx (%s; "
                                      "%s)%s", first.text, second.text,
                                      forbids(&a, &b) ? "" : ": what fails is often fast");
}

bool mst_comparison_fails(const struct mst_compare_side *side)
{
    const struct answers answers = answers_of(side);

    return bad_milli(&answers) >= MST_FAILURES_FIRST_MILLI && !is_redirect(&answers);
}

/* Pages of errors have another size, too, of which nothing is said then. */
static void compare_sizes(struct mst_comparison_table *t)
{
    const struct answers a = answers_of(&t->a), b = answers_of(&t->b);
    double size_a, size_b, more, less;

    if (a.of == 0 || b.of == 0 || t->obstacles.count > 0)
        return;
    size_a = (double)a.bytes / (double)a.of;
    size_b = (double)b.bytes / (double)b.of;
    more = size_a > size_b ? size_a : size_b;
    less = size_a > size_b ? size_b : size_a;
    if (more < less * MST_OTHER_SIZE_RATIO || more - less < MST_OTHER_SIZE_BYTES)
        return;
    forbid(t, "the answers have another size, on average %s in A, %s in B: it is another page, or "
           "only one side compresses it", mst_format_bytes((uint64_t)size_a).text,
           mst_format_bytes((uint64_t)size_b).text);
}

/* ---- loads ----------------------------------------------------------------------- */

/* The part of a text that the other does not have; in whole words, with the option's name. */
struct part { const char *text; int length; };

/* How long the beginning is that both have, up to a word. */
static size_t common_start(const char *a, const char *b)
{
    size_t i, start = 0;

    for (i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == ' ')
            start = i + 1;
    return start;
}

/* Where the word before `at` begins, if that is an option; else `at`. */
static size_t with_option(const char *text, size_t at)
{
    size_t word = at;

    while (word > 1 && text[word - 2] != ' ')
        word--;
    return word > 1 && text[word - 1] == '-' ? word - 1 : at;
}

static void find_parts(const char *a, const char *b, struct part *of_a, struct part *of_b)
{
    size_t start = common_start(a, b), length_a = strlen(a), length_b = strlen(b), end = 0, i;

    for (i = 1; i <= length_a - start && i <= length_b - start &&
                a[length_a - i] == b[length_b - i]; i++)
        if (a[length_a - i] == ' ')
            end = i;
    start = with_option(a, start);
    *of_a = (struct part){ a + start, (int)(length_a - end - start) };
    *of_b = (struct part){ b + start, (int)(length_b - end - start) };
}

static bool load_differs(struct mst_comparison_table *t, const struct mst_compare_run *first,
                         const struct mst_compare_run *other)
{
    const char *a = shown(first->load), *b = shown(other->load);
    struct part of_a, of_b;

    if (is_same(a, b))
        return false;
    find_parts(a, b, &of_a, &of_b);
    forbid(t, "the load differs: \"%.*s\" in %s, \"%.*s\" in %s", of_a.length, of_a.text,
           place_of(t, first).text, of_b.length, of_b.text, place_of(t, other).text);
    return true;
}

static bool count_differs(struct mst_comparison_table *t, const struct mst_compare_run *first,
                          const struct mst_compare_run *other)
{
    uint64_t a = first->summary.client.requested, b = other->summary.client.requested;

    if (a == b || a == MST_UNKNOWN || b == MST_UNKNOWN)
        return false;
    warn(t, "the load makes another number of requests: %" PRIu64 " in %s, %" PRIu64 " in %s", a,
         place_of(t, first).text, b, place_of(t, other).text);
    return true;
}

/* Warns where the runs of one side requested different URLs. */
static void compare_urls(struct mst_comparison_table *t, const struct mst_compare_side *side,
                         char letter)
{
    size_t i;

    for (i = 1; i < side->count; i++)
        if (!is_same(side->runs[i].urls, side->runs[0].urls)) {
            warn(t, "the runs of %c are not repetitions of each other: \"%s\" and \"%s\"", letter,
                 shown(side->runs[0].urls), shown(side->runs[i].urls));
            return;
        }
}

/* ---- servers --------------------------------------------------------------------- */

struct kind { char text[256]; };

/* "Apache/2.4.66 (Debian) event, PHP/8.2.29 fpm-fcgi": those that the load was for. */
static struct kind kind_of(const struct mst_compare_run *run)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    const struct mst_summary_server *php = mst_summary_behind(&run->summary);
    struct kind kind = { "no server" };
    int used = 0;

    if (front == NULL)
        return kind;
    if (front != php)
        used = snprintf(kind.text, sizeof kind.text, "%.100s %.20s", shown(front->server),
                        shown(front->mpm));
    if (php != NULL)
        snprintf(kind.text + used, sizeof kind.text - (size_t)used, "%s%.80s %.20s",
                 used > 0 ? " with " : "", shown(php->server), shown(php->sapi));
    return kind;
}

static bool kind_differs(struct mst_comparison_table *t, const struct mst_compare_run *first,
                         const struct mst_compare_run *other)
{
    const struct kind a = kind_of(first), b = kind_of(other);

    if (strcmp(a.text, b.text) == 0)
        return false;
    warn(t, "the servers are of different kinds: %s in %s, %s in %s", a.text,
         place_of(t, first).text, b.text, place_of(t, other).text);
    return true;
}

static uint64_t limit_of(const struct mst_summary_server *server)
{
    return server != NULL ? server->workers_limit : MST_UNKNOWN;
}

/* Servers of one machine that are recorded together have the same settings in the archive. */
static bool limit_differs(struct mst_comparison_table *t, const struct mst_compare_run *first,
                          const struct mst_compare_run *other)
{
    const struct mst_summary *a = &first->summary, *b = &other->summary;
    const uint64_t limits[][2] = {
        { limit_of(mst_summary_front(a)), limit_of(mst_summary_front(b)) },
        { limit_of(mst_summary_behind(a)), limit_of(mst_summary_behind(b)) },
    };
    static const char *const whose[] = { "the server's", "PHP's" };
    bool differ = false;
    size_t i;

    for (i = 0; i < 2; i++) {
        if (limits[i][0] == limits[i][1] || limits[i][0] == MST_UNKNOWN ||
            limits[i][1] == MST_UNKNOWN)
            continue;
        differ = true;
        warn(t, "%s limit of workers differs: %" PRIu64 " in %s, %" PRIu64 " in %s", whose[i],
             limits[i][0], place_of(t, first).text, limits[i][1], place_of(t, other).text);
    }
    return differ;
}

/* Whether a PHP, or what else its requests were handed to, was not recorded. */
static bool lacks_backend(const struct mst_compare_run *run)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    const struct mst_summary_server *php = mst_summary_behind(&run->summary);

    return front != NULL && !mst_summary_is_php(front) && (php == NULL || php->requests == 0) &&
           front->intervals[MST_INTERVAL_BACKEND].times.count > 0;
}

bool mst_comparison_same_servers(const struct mst_comparison_table *t)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    size_t i, k, lacking = 0;

    for (k = 0; k < 2; k++)
        for (i = 0; i < sides[k]->count; i++)
            lacking += lacks_backend(&sides[k]->runs[i]);
    return lacking == 0 || lacking == t->a.count + t->b.count;
}

const char *mst_comparison_whose(const struct mst_comparison_table *t)
{
    const struct mst_compare_run *a = &t->a.runs[0];
    const struct mst_summary_server *php = mst_summary_behind(&a->summary);
    size_t i;

    for (i = 0; i < t->row_count; i++)
        if (t->rows[i].metric == &mst_metrics[MST_M_SERVERS_PSS])
            break;
    if (i == t->row_count)
        return "";
    if (lacks_backend(a))
        return "CPU and memory are Apache's alone: what is behind it was not recorded.";
    return php != NULL && php->requests > 0 ?
           "CPU and memory are those of Apache and PHP together." : "CPU and memory are Apache's.";
}

static void compare_recorded(struct mst_comparison_table *t)
{
    if (!mst_comparison_same_servers(t))
        warn(t, "what Apache handed its requests to was not recorded in all runs: CPU time and "
             "memory of all servers are left out");
}

/* ---- settings -------------------------------------------------------------------- */

static bool has_item(const char *list, const char *item, size_t length)
{
    const char *at;

    for (at = list; (at = strstr(at, item)) != NULL; at++)
        if ((at == list || (at - list >= 2 && strncmp(at - 2, "; ", 2) == 0)) &&
            (at[length] == '\0' || strncmp(at + length, "; ", 2) == 0))
            return true;
    return false;
}

/* What of a list "a 1; b 2" the other list does not have; a text that is not a list is one item. */
static const char *only_in(apr_pool_t *pool, const char *list, const char *other)
{
    char *item, *next = apr_pstrdup(pool, list), *only = apr_pcalloc(pool, strlen(list) + 1);

    while ((item = next) != NULL) {
        next = strstr(item, "; ");
        if (next != NULL) {
            *next = '\0';
            next += 2;
        }
        if (!has_item(other, item, strlen(item)))
            strcat(strcat(only, only[0] != '\0' ? "; " : ""), item);
    }
    return only;
}

static void warn_of_setting(struct mst_comparison_table *t, const char *name,
                            const struct mst_compare_run *first,
                            const struct mst_compare_run *other)
{
    const char *a = mst_compare_setting(first, name), *b = mst_compare_setting(other, name);

    warn(t, "%s differs: \"%s\" in %s, \"%s\" in %s", name, only_in(t->pool, a, b),
         place_of(t, first).text, only_in(t->pool, b, a), place_of(t, other).text);
}

/* Servers of other places have other commands; what matters of them is in the settings. */
static bool is_command(const char *name)
{
    size_t length = strlen(name), end = strlen("_command");

    return length > end && strcmp(name + length - end, "_command") == 0;
}

/* A setting that is in the first run is looked for in all the others. */
static void compare_settings(struct mst_comparison_table *t, bool commands)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    const struct mst_compare_run *first = &t->a.runs[0];
    size_t i, k, n;

    for (n = 0; n < first->setting_count; n++) {
        const char *name = first->settings[n].name, *value = first->settings[n].value;
        bool differs = is_command(name) != commands;

        for (k = 0; k < 2; k++)
            for (i = 0; i < sides[k]->count && !differs; i++) {
                const char *other = mst_compare_setting(&sides[k]->runs[i], name);

                differs = other != NULL && !is_same(value, other);
                if (differs)
                    warn_of_setting(t, name, first, &sides[k]->runs[i]);
            }
    }
}

/* Names the settings that the one run has and the other has not, in one sentence. */
static void find_unknown(struct mst_comparison_table *t, const struct mst_compare_run *one,
                         const struct mst_compare_run *other)
{
    char names[512] = "";
    size_t n, used = 0;

    for (n = 0; n < one->setting_count && used < sizeof names; n++)
        if (mst_compare_setting(other, one->settings[n].name) == NULL)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "", one->settings[n].name);
    if (names[0] != '\0')
        warn(t, "not known in %s, but in %s: %s", place_of(t, other).text, place_of(t, one).text,
             names);
}

/* ---- runs ------------------------------------------------------------------------ */

/* Warns of thinned archives and runs that were left out. */
static void check_runs(struct mst_comparison_table *t, const struct mst_compare_side *side,
                       char letter)
{
    static const char about[] = " (mpmstat report has the check); record --steady leaves a warm-up "
                                "out";
    size_t i, thinned = 0, unsteady = 0;

    for (i = 0; i < side->count; i++) {
        thinned += side->runs[i].summary.thinned_of > 0;
        unsteady += side->runs[i].summary.checks[MST_CHECK_STEADY].ok == MST_ANSWER_NO;
    }
    if (unsteady > 0 && side->count == 1)
        warn(t, "the run of %c was not steady%s", letter, about);
    else if (unsteady > 0)
        warn(t, "%zu of the %zu runs of %c %s not steady%s", unsteady, side->count, letter,
             unsteady == 1 ? "was" : "were", about);
    if (thinned > 0)
        warn(t, "the archive is thinned of %zu of the %zu runs of %c: means and percentiles are "
             "estimates", thinned, side->count, letter);
    if (side->incomplete > 0)
        warn(t, "%zu run%s of %c did not come to an end, and %s left out", side->incomplete,
             side->incomplete == 1 ? "" : "s", letter, side->incomplete == 1 ? "is" : "are");
    if (side->unpaired > 0)
        warn(t, "%zu run%s of %c without a counterpart %s left out", side->unpaired,
             side->unpaired == 1 ? "" : "s", letter, side->unpaired == 1 ? "is" : "are");
}

static size_t with_notes(const struct mst_compare_side *side)
{
    size_t i, count = 0;

    for (i = 0; i < side->count; i++)
        count += side->runs[i].summary.note_count > 0;
    return count;
}

static void check_notes(struct mst_comparison_table *t)
{
    size_t a = with_notes(&t->a), b = with_notes(&t->b);

    if (a + b > 0 && t->a.count == 1 && t->b.count == 1)
        warn(t, "the run%s of %s %s notes, which mpmstat report shows", a + b > 1 ? "s" : "",
             a + b > 1 ? "A and B" : a > 0 ? "A" : "B", a + b > 1 ? "have" : "has");
    else if (a + b > 0)
        warn(t, "%zu of the %zu runs of A and %zu of the %zu of B have notes, which mpmstat report "
             "shows", a, t->a.count, b, t->b.count);
}

static void check_order(struct mst_comparison_table *t)
{
    if (t->a.count + t->b.count > 2 && !t->paired)
        warn(t, "the runs of A and B were not made alternately: whatever changed on the machine "
             "between them counts as a difference; record with --interleave");
}

void mst_comparison_find_differences(struct mst_comparison_table *t)
{
    compare_statuses(t);
    compare_sizes(t);
    compare_runs(t, load_differs);
    compare_runs(t, kind_differs);
    compare_recorded(t);
    compare_runs(t, limit_differs);
    compare_runs(t, count_differs);
    compare_urls(t, &t->a, 'A');
    compare_urls(t, &t->b, 'B');
    check_order(t);
    compare_settings(t, false);
    check_runs(t, &t->a, 'A');
    check_runs(t, &t->b, 'B');
    check_notes(t);
    t->main_warning_count = t->warnings.count;   /* what follows seldom tells more */
    compare_settings(t, true);
    find_unknown(t, &t->a.runs[0], &t->b.runs[0]);
    find_unknown(t, &t->b.runs[0], &t->a.runs[0]);
}

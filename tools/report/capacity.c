/* capacity.c - see capacity.h. */
#include "report/capacity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/finding.h"
#include "console/format.h"
#include "doc/table.h"
#include "findings/foresight.h"
#include "render/json_writer.h"

#define HELD    0.9   /* a level that is measured twice has rates so near: runs differ, too */
#define NEXT_TO 0.8   /* twice within a tenth (capacity/search.c): of the best level, of the knee */

const char *mst_capacity_clients(apr_pool_t *pool, uint64_t clients)
{
    return mst_pool_printf(pool, "%s %s", mst_format_count(clients).text,
                           clients == 1 ? "client" : "clients");
}

static const char *load_words(const struct mst_capacity *c, uint64_t at)
{
    return c->by_rate ? mst_pool_printf(c->pool, "%s requests per second",
                                        mst_format_count(at).text) :
                        mst_capacity_clients(c->pool, at);
}

bool mst_slo_broken(const struct mst_slo *slo, const struct mst_capacity_run *run,
                    enum mst_percentile *which)
{
    enum mst_percentile p;

    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        if (slo->most_ns[p] > 0 && run->times_ns[p] != MST_UNKNOWN &&
            run->times_ns[p] > slo->most_ns[p]) {
            *which = p;
            return true;
        }
    return false;
}

double mst_capacity_rate(const struct mst_capacity *c)
{
    return c->search.has_best ? c->levels[c->search.best].rate : 0;
}

/* ---- the limit ------------------------------------------------------------------- */

static bool says_something(const struct mst_capacity_run *run)
{
    return run->has_finding && run->code != MST_CODE_NOTHING && run->code != MST_CODE_TOO_SHORT &&
           run->code != MST_CODE_CANNOT_TELL;
}

/* Whether the rate grew until answers failed: the level of the knee is next to the one that fails,
 * as nearly as the search tells levels apart. */
static bool grew_until_it_failed(const struct mst_capacity *c)
{
    uint64_t knee, failing;

    if (c->search.end != MST_SEARCH_FAILED || !c->search.has_best)
        return false;
    knee = c->levels[c->search.knee].at;
    failing = c->levels[c->search.ceiling].at;
    return failing - knee <= 1 || (double)knee >= NEXT_TO * (double)failing;
}

/* Whether the rate grew no more because the clients were busy elsewhere. */
static bool is_elsewhere(const struct mst_capacity *c)
{
    return c->search.end == MST_SEARCH_FLAT && c->runs[c->count - 1].elsewhere;
}

/* From the knee on the first run in which something ran out; NULL: none is. At the knee itself
 * nothing has to wait yet. */
static const struct mst_capacity_run *ran_out(const struct mst_capacity *c)
{
    size_t i;

    for (i = c->search.has_best ? c->search.knee : 0; i < c->count; i++)
        if (says_something(&c->runs[i]) && mst_code_ran_out(c->runs[i].code) &&
            c->runs[i].code != MST_CODE_GENERATOR)
            return &c->runs[i];
    return NULL;
}

/* That run says what is the limit, or else, where a limit was met, the one in which answers fail,
 * the last one, or the first one that found anything. */
const struct mst_capacity_run *mst_capacity_limit(const struct mst_capacity *c)
{
    const struct mst_capacity_run *run = ran_out(c);
    size_t i;

    if (grew_until_it_failed(c) && says_something(&c->runs[c->search.ceiling]))
        return &c->runs[c->search.ceiling];
    if (run != NULL || c->search.end == MST_SEARCH_RISES || c->search.end == MST_SEARCH_MOST)
        return run;
    if (is_elsewhere(c))
        return &c->runs[c->count - 1];
    for (i = c->search.has_best ? c->search.knee : 0; i < c->count; i++)
        if (says_something(&c->runs[i]))
            return &c->runs[i];
    return NULL;
}

/* What is the limit, where a server that takes more has the same curve; NULL: the server is. */
static const char *other_limit(const struct mst_capacity *c)
{
    const struct mst_capacity_run *limit =
        c->search.end == MST_SEARCH_FLAT ? mst_capacity_limit(c) : NULL;

    if (c->search.end == MST_SEARCH_TOOL || (limit != NULL && limit->code == MST_CODE_GENERATOR))
        return "the load tool itself is the limit";
    if (limit != NULL && limit->elsewhere)
        return "the load tool, or what is between it and the server, is the limit";
    return NULL;
}

bool mst_capacity_is_least(const struct mst_capacity *c)
{
    return c->search.has_best && (c->search.end == MST_SEARCH_MOST ||
                                  c->search.end == MST_SEARCH_RISES || other_limit(c) != NULL);
}

bool mst_capacity_is_known(const struct mst_capacity *c)
{
    return c->search.has_best && !mst_capacity_is_least(c);
}

/* Why a level is too much. */
static const char *trouble(const struct mst_capacity *c, const struct mst_level *level,
                           const struct mst_capacity_run *run)
{
    enum mst_percentile which = MST_P50;

    switch (level->is) {
    case MST_LEVEL_BROKEN:
        mst_slo_broken(&c->slo, run, &which);
        return mst_pool_printf(c->pool, "%s is %s", mst_percentile_names[which],
                               mst_format_time(run->times_ns[which]).text);
    case MST_LEVEL_FAILED:
        if (run->tool_failed)
            return "the load tool fails";
        if (run->requests == 0)
            return "no request is answered";
        return mst_pool_printf(c->pool, "%s of %s requests fail",
                               mst_format_count(run->failed).text,
                               mst_format_count(run->requests).text);
    case MST_LEVEL_SHORT:
        return mst_pool_printf(c->pool, "only %s are done", mst_format_real(
                                   level->rate).text);
    default:
        return "it is too much";
    }
}

/* ---- once more ------------------------------------------------------------------- */

static bool became_slower(const struct mst_capacity *c)
{
    const struct mst_level *again = &c->again.level;

    return c->again.known && (again->rate < HELD * c->levels[c->search.knee].rate ||
                              again->is != c->levels[c->search.knee].is);
}

static bool became_faster(const struct mst_capacity *c)
{
    return c->again.known && HELD * c->again.level.rate > c->levels[c->search.knee].rate;
}

double mst_capacity_rate_held(const struct mst_capacity *c)
{
    double rate = mst_capacity_rate(c);

    return became_slower(c) && c->again.level.rate < rate ? c->again.level.rate : rate;
}

/* "": it is still the same server. */
static const char *once_more(const struct mst_capacity *c)
{
    const struct mst_level *again = &c->again.level, *knee = &c->levels[c->search.knee];
    const char *runs;

    if (!became_slower(c) && !became_faster(c))
        return "";
    runs = mst_pool_printf(c->pool, "mpmstat compare %s#%" PRId64 " %s#%" PRId64, c->archive,
                           c->runs[c->search.knee].id, c->archive, c->again.run.id);
    if (again->is != knee->is)
        return mst_pool_printf(c->pool, " It did not hold that: once more at the end, with %s %s.",
                               load_words(c, again->at), trouble(c, again, &c->again.run));
    return mst_pool_printf(c->pool, " It %s: once more at the end, %s made %s requests per second, "
                           "not %s. %s shows what changed.",
                           became_slower(c) ? "did not hold that" : "was not warm yet",
                           load_words(c, again->at), mst_format_real(again->rate).text,
                           mst_format_real(knee->rate).text, runs);
}

/* ---- sentences ------------------------------------------------------------------- */

/* Where the knee is, and what is behind it. */
static const char *knee_words(const struct mst_capacity *c)
{
    const struct mst_search *s = &c->search;
    const char *at = load_words(c, c->levels[s->knee].at), *other = other_limit(c);

    if (other != NULL)
        return mst_pool_printf(c->pool, "with %s %s", load_words(c, c->levels[s->best].at), other);
    if (s->ceiling < c->count)
        return mst_pool_printf(c->pool, "with %s; with %s %s", load_words(c, c->levels[s->best].at),
                               load_words(c, c->levels[s->ceiling].at),
                               trouble(c, &c->levels[s->ceiling], &c->runs[s->ceiling]));
    if (s->end == MST_SEARCH_MOST)
        return mst_pool_printf(c->pool, "with %s, which is as high as the load may be",
                               load_words(c, c->levels[s->best].at));
    if (s->end == MST_SEARCH_RISES)
        return mst_pool_printf(c->pool, "with %s, and the rate still grew",
                               load_words(c, c->levels[s->best].at));
    if (s->next != 0 && s->high - s->low > 1)
        return mst_pool_printf(c->pool, "the knee is between %" PRIu64 " and %s", s->low, at);
    return mst_pool_printf(c->pool, "from %s on, more hardly add any", at);
}

static const char *verdict(const struct mst_capacity *c)
{
    const char *within = c->slo.text == NULL ? "" :
                         mst_pool_printf(c->pool, " within %s", c->slo.text);

    if (c->count == 0)
        return "It is not known what the server takes: no level was measured.";
    if (!c->search.has_best)
        return mst_pool_printf(c->pool, "The server does not take the lowest load%s: with %s %s.",
                               within, load_words(c, c->levels[0].at),
                               trouble(c, &c->levels[0], &c->runs[0]));
    return mst_pool_printf(c->pool, "The server takes %s%s requests per second%s: %s.%s",
                           mst_capacity_is_least(c) ? "at least " : "",
                           mst_format_real(mst_capacity_rate(c)).text, within, knee_words(c),
                           once_more(c));
}

/* Why the search ended before all was known; NULL: it did not. */
static const char *cut_short(const struct mst_capacity *c)
{
    if (c->search.next == 0)
        return NULL;
    if (c->interrupted)
        return mst_pool_printf(c->pool, "It was interrupted; next would be %s. The same command "
                               "with -o %s goes on.", load_words(c, c->search.next), c->archive);
    if (c->time_is_up)
        return mst_pool_printf(c->pool, "The time is up (--within); next would be %s. The same "
                               "command with -o %s goes on.", load_words(c, c->search.next),
                               c->archive);
    return NULL;
}

/* What would be next; NULL: it is not known. */
static const char *next_words(const struct mst_capacity *c)
{
    const struct mst_capacity_next *next = &c->next;
    const char *rate, *only_if = "";
    char called[MST_LIMIT_CALLED_MAX];

    if (!next->known || isnan(next->rate.value))
        return NULL;
    rate = mst_pool_printf(c->pool, "about %s requests per second (%s to %s)",
                           mst_format_real(next->rate.value).text,
                           mst_format_real(next->rate.low).text,
                           mst_format_real(next->rate.high).text);
    if (next->busier != NULL)
        only_if = mst_pool_printf(c->pool, ", if %s answers so many as fast as now", next->busier);
    if (next->name == NULL)
        return mst_pool_printf(c->pool, "With more of these workers nothing else would run out up "
                               "to %" PRIu32 " clients, which would get %s%s.", next->clients, rate,
                               only_if);
    return mst_pool_printf(c->pool, "With more of these workers, next would be %s, at %s: %" PRIu32
                           " clients would keep %s workers busy%s.",
                           mst_limit_called(called, next->name), rate, next->clients,
                           mst_format_real(next->workers).text, only_if);
}

/* ---- text ------------------------------------------------------------------------ */

static void put_levels(const struct mst_doc *doc, const struct mst_capacity *c)
{
    const struct mst_doc_column columns[] = {
        { c->by_rate ? "asked per s" : "clients", .kind = MST_DOC_NUMBER,
          .quantity = MST_QUANTITY_COUNT },
        { "requests per second", .kind = MST_DOC_NUMBER, .word = "per s" },
        { "p50", .kind = MST_DOC_NUMBER, .quantity = MST_QUANTITY_TIME },
        { "p95", .kind = MST_DOC_NUMBER, .quantity = MST_QUANTITY_TIME },
        { "failed", .kind = MST_DOC_NUMBER, .quantity = MST_QUANTITY_COUNT },
        { "run", .kind = MST_DOC_NUMBER, .quantity = MST_QUANTITY_COUNT },
        { "what it found", .kind = MST_DOC_NAME },
    };
    static const char *const remarks[MST_LEVEL_IS_COUNT] = {
        [MST_LEVEL_GOOD] = "", [MST_LEVEL_FAILED] = " (failures)",
        [MST_LEVEL_BROKEN] = " (the promise breaks)", [MST_LEVEL_SHORT] = " (too few are done)",
        [MST_LEVEL_TOOL] = " (the load tool is the limit)",
    };
    struct mst_doc_table t;
    size_t i;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < c->count + c->again.known; i++) {
        bool is_again = i == c->count;
        const struct mst_level *level = is_again ? &c->again.level : &c->levels[i];
        const struct mst_capacity_run *run = is_again ? &c->again.run : &c->runs[i];
        bool is_knee = mst_capacity_is_known(c) && i == c->search.knee;

        mst_doc_row(&t, level->is != MST_LEVEL_GOOD ? MST_STYLE_WARNING :
                    is_knee ? MST_STYLE_STRONG : MST_STYLE_PLAIN);
        mst_doc_number(&t, level->at);
        mst_doc_real(&t, level->rate, mst_format_real(level->rate).text);
        mst_doc_number(&t, run->times_ns[MST_P50]);
        mst_doc_number(&t, run->times_ns[MST_P95]);
        mst_doc_number(&t, run->failed);
        mst_doc_number(&t, (uint64_t)run->id);
        mst_doc_words(&t, "%s%s%s", run->has_finding ? mst_code_names[run->code] : "",
                      is_knee ? " (the knee)" : is_again ? " (once more)" : remarks[level->is],
                      run->steady == MST_ANSWER_NO ? " (not steady)" : "");
    }
    mst_doc_table_end(&t, doc, "Levels", "numbers");
}

void mst_capacity_verdict(const struct mst_doc *doc, const struct mst_capacity *c)
{
    mst_doc_paragraph(doc, MST_STYLE_STRONG, "%s", verdict(c));
}

void mst_capacity_say(const struct mst_doc *doc, const struct mst_capacity *c)
{
    const struct mst_capacity_run *limit = mst_capacity_limit(c);
    const char *cut = cut_short(c), *next = next_words(c);

    mst_capacity_verdict(doc, c);
    if (limit != NULL)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "%s %s (run %" PRId64 "): %s%s%s",
                          mst_code_ran_out(limit->code) ? "What ran out first is" :
                          "What limits it is", mst_code_names[limit->code], limit->id, limit->text,
                          limit->action[0] != '\0' ? " " : "", limit->action);
    else if (mst_capacity_is_known(c))
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "No run says what limits it.");
    if (next != NULL)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "%s", next);
    if (cut != NULL)
        mst_doc_paragraph(doc, MST_STYLE_WARNING, "%s", cut);
}

void mst_capacity_put_levels(const struct mst_doc *doc, const struct mst_capacity *c)
{
    size_t i;

    mst_doc_space(doc);
    put_levels(doc, c);
    mst_doc_space(doc);
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "Each level is a run: mpmstat report %s", c->archive);
    for (i = 0; i < c->count && c->runs[i].steady != MST_ANSWER_NO; i++)
        ;
    if (i < c->count)
        mst_doc_paragraph(doc, MST_STYLE_WARNING, "Where a level was not steady, its rate and its "
                          "times include a warm-up, or the load changed all the time: the check "
                          "`steady` of its run says which.");
}

/* ---- JSON ------------------------------------------------------------------------ */

static void put_real(struct mst_json *j, const char *key, double value)
{
    mst_json_value(j, key);
    mst_real_put(j->out, value, "null");
}

static const char *load_key(const struct mst_capacity *c)
{
    return c->by_rate ? "rate" : "clients";
}

static void put_knee(struct mst_json *j, const struct mst_capacity *c)
{
    const struct mst_search *s = &c->search;

    if (!mst_capacity_is_known(c)) {
        mst_json_value(j, "knee");
        mst_sink_puts(j->out, "null");
        return;
    }
    mst_json_begin(j, "knee", '{');
    mst_json_count(j, load_key(c), c->levels[s->knee].at);
    put_real(j, "requests_per_second", c->levels[s->knee].rate);
    mst_json_count(j, "low", s->low);
    mst_json_count(j, "high", s->high);
    mst_json_end(j, '}');
}

static void put_limit(struct mst_json *j, const struct mst_capacity *c)
{
    const struct mst_capacity_run *limit = mst_capacity_limit(c);

    if (limit == NULL) {
        mst_json_value(j, "limit");
        mst_sink_puts(j->out, "null");
        return;
    }
    mst_json_begin(j, "limit", '{');
    mst_json_string(j, "code", mst_code_names[limit->code]);
    mst_json_string(j, "sentence", limit->text);
    mst_json_string(j, "action", limit->action[0] != '\0' ? limit->action : NULL);
    mst_json_count(j, "run", (uint64_t)limit->id);
    mst_json_end(j, '}');
}

static void put_next(struct mst_json *j, const struct mst_capacity *c)
{
    const struct mst_capacity_next *next = &c->next;

    if (!next->known) {
        mst_json_value(j, "next");
        mst_sink_puts(j->out, "null");
        return;
    }
    mst_json_begin(j, "next", '{');
    mst_json_string(j, "name", next->name);
    mst_json_count(j, "clients", next->clients);
    put_real(j, "workers", next->workers);
    mst_json_begin(j, "requests_per_second", '{');
    put_real(j, "value", next->rate.value);
    put_real(j, "low", next->rate.low);
    put_real(j, "high", next->rate.high);
    mst_json_end(j, '}');
    mst_json_string(j, "sentence", next_words(c));
    mst_json_end(j, '}');
}

static void put_level(struct mst_json *j, const char *key, const struct mst_capacity *c,
                      const struct mst_level *level, const struct mst_capacity_run *run)
{
    mst_json_begin(j, key, '{');
    mst_json_count(j, load_key(c), level->at);
    mst_json_count(j, "run", (uint64_t)run->id);
    put_real(j, "requests_per_second", level->rate);
    mst_json_seconds(j, "p50_seconds", run->times_ns[MST_P50]);
    mst_json_seconds(j, "p95_seconds", run->times_ns[MST_P95]);
    mst_json_count(j, "requests", run->requests);
    mst_json_count(j, "failed", run->failed);
    if (run->steady == MST_ANSWER_UNKNOWN)
        mst_json_string(j, "steady", NULL);
    else
        mst_json_bool(j, "steady", run->steady == MST_ANSWER_YES);
    mst_json_string(j, "is", mst_level_is_names[level->is]);
    mst_json_string(j, "runs_out", run->has_finding && mst_code_ran_out(run->code) ?
                                   mst_code_names[run->code] : NULL);
    mst_json_string(j, "finding", run->has_finding ? mst_code_names[run->code] : NULL);
    mst_json_end(j, '}');
}

void mst_capacity_json(struct mst_sink *sink, const struct mst_capacity *c)
{
    struct mst_json j = { .out = sink, .spaced = true };
    size_t i;

    mst_json_begin(&j, NULL, '{');
    mst_json_string(&j, "verdict", verdict(c));
    mst_json_string(&j, "archive", c->archive);
    mst_json_string(&j, "command", c->command);
    mst_json_string(&j, "slo", c->slo.text);
    put_real(&j, "requests_per_second", c->search.has_best ? mst_capacity_rate(c) : NAN);
    mst_json_bool(&j, "at_least", mst_capacity_is_least(c));
    mst_json_string(&j, "ended_by", mst_search_end_names[c->search.end]);
    mst_json_bool(&j, "complete", c->count > 0 && c->search.next == 0);
    mst_json_bool(&j, "interrupted", c->interrupted);
    put_knee(&j, c);
    put_limit(&j, c);
    put_next(&j, c);
    mst_json_begin(&j, "levels", '[');
    for (i = 0; i < c->count; i++)
        put_level(&j, NULL, c, &c->levels[i], &c->runs[i]);
    mst_json_end(&j, ']');
    if (c->again.known) {
        put_level(&j, "again", c, &c->again.level, &c->again.run);
        mst_json_bool(&j, "held", !became_slower(c) && !became_faster(c));
    } else {
        mst_json_string(&j, "again", NULL);
        mst_json_string(&j, "held", NULL);
    }
    mst_json_end(&j, '}');
    mst_sink_puts(sink, "\n");
}

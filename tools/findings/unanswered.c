/* unanswered.c - the rules for what only the load tool knows: requests that got no answer, answers
 * of another length, a load that did not come to its end. See rules.h.
 *
 * Not every load tool says why a request failed, or which: hey's and oha's rows leave them out. How
 * many they are is known all the same, from the number that the tool was to make, or from what the
 * servers had beyond its rows.
 */
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/error.h"
#include "base/saturate.h"
#include "findings/rules.h"
#include "findings/sentences.h"

#include <string.h>

/* ---- the tool's own words ------------------------------------------------------------------ */

#define WORDS_READ 600u   /* of its output, in bytes: a long URL can stand before the reason */

/* The first line of the text that is not blank, as a person may read it; without the URL that
 * programs in Go begin with: Get "http://...": EOF. */
static void take_words(char words[MST_WORDS_MAX], const char *text)
{
    const char *line = text + strspn(text, " \t\n"), *url_end;
    size_t n = strcspn(line, "\n");

    url_end = memmem(line, n, "\": ", 3);
    if (url_end != NULL) {
        n -= (size_t)(url_end + 3 - line);
        line = url_end + 3;
    }
    while (n > 0 && strchr(" \t\r\"", line[n - 1]) != NULL)
        n--;
    mst_printable(words, MST_WORDS_MAX, line, n);
}

/* Where it names the reason of failures. */
static void read_reason(struct mst_inquiry *q, char words[MST_WORDS_MAX])
{
    const char *mark = q->s->client.failure_mark;
    struct mst_query row;

    words[0] = '\0';
    if (mark == NULL)
        return;
    row = mst_query_ask(q->db,
        "SELECT substr(text, instr(text, :mark) + length(:mark), :most) AS words FROM "
        "(SELECT CAST(content AS TEXT) AS text FROM output WHERE run_id = :id) "
        "WHERE instr(text, :mark) > 0",
        q->s->id);
    mst_query_set_text(&row, ":mark", mark);
    mst_query_set(&row, ":most", WORDS_READ);
    if (mst_query_next(&row) && mst_row_text(&row, "words") != NULL)
        take_words(words, mst_row_text(&row, "words"));
    q->failed |= !mst_query_done(&row);
}

/* What it said last: on stderr, or where it said nothing there on stdout. */
static void read_last_words(struct mst_inquiry *q, char words[MST_WORDS_MAX])
{
    struct mst_query row = mst_query_ask(q->db,
        "SELECT rtrim(substr(CAST(content AS TEXT), -:most), char(10, 13, 32)) AS words "
        "FROM output WHERE run_id = :id AND bytes > 0 ORDER BY stream LIMIT 1", q->s->id);
    const char *text, *line;

    words[0] = '\0';
    mst_query_set(&row, ":most", WORDS_READ);
    if (mst_query_next(&row) && (text = mst_row_text(&row, "words")) != NULL) {
        line = strrchr(text, '\n');
        take_words(words, line != NULL ? line : text);
    }
    q->failed |= !mst_query_done(&row);
}

/* ---- requests without an answer ------------------------------------------------------------ */

/* Those of the servers that the load tool does not count among its answered ones. */
static uint64_t servers_have_more(const struct mst_inquiry *q)
{
    const struct mst_summary_all fronts = mst_summary_fronts(q->s);
    const struct mst_summary_client *c = &q->s->client;
    uint64_t answered = mst_summary_made(c);
    uint64_t more;

    answered = mst_subtract_saturated(answered, mst_known(c->failed));
    more = mst_subtract_saturated(fronts.requests, answered);
    return mst_subtract_saturated(more, mst_summary_redirects_followed(q->s));
}

/* Answers with an error status that the tool calls failed. */
static uint64_t answered_though_failed(const struct mst_inquiry *q)
{
    const struct mst_summary_all fronts = mst_summary_fronts(q->s);
    unsigned from = q->s->client.failed_from_status;

    return from == 0 ? 0 : fronts.errors_5xx + (from < 500 ? fronts.errors_4xx : 0);
}

static struct mst_unanswered count_unanswered(const struct mst_inquiry *q)
{
    const struct mst_summary_client *c = &q->s->client;
    struct mst_unanswered u = {
        .made = mst_summary_made(c), .connect = mst_known(c->failed_connect),
        .receive = mst_known(c->failed_receive), .timeout = mst_known(c->failed_timeout),
        .other = mst_known(c->failed_other),
    };
    uint64_t known = u.connect + u.receive + u.timeout + u.other;

    u.requests = mst_subtract_saturated(mst_known(c->failed), mst_known(c->failed_length));
    u.requests = mst_subtract_saturated(u.requests, answered_though_failed(q));
    u.unknown = mst_subtract_saturated(u.requests, known);
    if (u.requests < known)
        u.requests = known;
    if (c->failed == MST_UNKNOWN && c->rows_omit_failures &&
        !c->abandons && q->s->complete) {
        u.requests = u.unknown = servers_have_more(q);
        u.made += u.requests;
    }
    u.completed = mst_subtract_saturated(servers_have_more(q), answered_though_failed(q));
    if (c->abandons)
        u.completed = 0;   /* those that it left at its end are not failures */
    if (u.completed > u.unknown)
        u.completed = u.unknown;
    return u;
}

static bool find_unanswered(struct mst_inquiry *q)
{
    const struct mst_summary_client *c = &q->s->client;
    struct mst_unanswered u;
    struct mst_finding *f;
    bool gave_up;

    if (mst_summary_made(c) == MST_UNKNOWN)
        return false;
    u = count_unanswered(q);
    if (u.requests == 0)
        return false;
    gave_up = (u.timeout + u.completed) * 2 >= u.requests;
    f = mst_found_requests(q, gave_up ? MST_CODE_CLIENT_ABORTS : MST_CODE_CLIENT_ERRORS,
                           c->failed == MST_UNKNOWN ? MST_LIKELY : MST_CERTAIN, u.requests,
                           u.made > u.requests ? u.made : u.requests);
    mst_weigh_failure(f, MST_FAILURES_FLOOR_MILLI);
    mst_found_number(f, "connect", u.connect);
    mst_found_number(f, "receive", u.receive);
    mst_found_number(f, "timeouts", u.timeout);
    mst_found_number(f, "other", u.other);
    mst_found_number(f, "not_said", u.unknown);
    mst_found_number(f, "completed_by_server", u.completed);
    read_reason(q, u.words);
    mst_say_unanswered(f, q->s, &u);
    return true;
}

/* A load tool that ends by time and got not one answer may count no failure: what it still waited
 * for at its end it leaves out. */
static void find_no_answer(struct mst_inquiry *q)
{
    struct mst_finding *f;

    if (mst_summary_made(&q->s->client) != 0 || q->s->duration_ns == MST_UNKNOWN)
        return;
    f = mst_found(q, MST_CODE_CLIENT_ERRORS, MST_CERTAIN, 0);
    f->share_milli = MST_UNKNOWN;
    f->weight = MST_WEIGHT_FIRST + 1000;
    mst_say_no_answer(f, q->s);
}

/* A page whose length varies is not a failure, and the load tool cannot tell. */
static void find_lengths(struct mst_inquiry *q)
{
    const struct mst_summary_client *c = &q->s->client;
    struct mst_finding *f;

    if (!c->known || c->failed_length == MST_UNKNOWN || c->failed_length == 0)
        return;
    f = mst_found_requests(q, MST_CODE_ANSWERS_LENGTH, MST_CANNOT_TELL, c->failed_length,
                           c->requests);
    f->weight = 0;
    mst_found_number(f, "answers", c->failed_length);
    mst_say_lengths(f, c);
}

/* ---- the load's end ------------------------------------------------------------------------ */

/* What the servers did until then is judged all the same. */
static void find_cut_short(struct mst_inquiry *q)
{
    const struct mst_summary *s = q->s;
    char words[MST_WORDS_MAX] = "";
    struct mst_finding *f;

    if (s->complete || s->outcome == MST_OUTCOME_UNFINISHED)
        return;
    f = mst_found(q, MST_CODE_LOAD_CUT_SHORT, MST_CERTAIN, 0);
    f->share_milli = MST_UNKNOWN;
    f->weight = 2 * MST_WEIGHT_FIRST;   /* all that follows is of the time until then */
    mst_found_subject(f, s->client.tool);
    mst_found_number(f, "exit_status", s->exit_status);
    mst_found_number(f, "exit_signal", s->exit_signal);
    mst_found_number(f, "after_ns", s->duration_ns);
    if (s->outcome == MST_OUTCOME_FAILED)
        read_last_words(q, words);
    mst_say_cut_short(f, s, words);
}

void mst_find_client_failures(struct mst_inquiry *q)
{
    find_cut_short(q);
    if (q->b.front != NULL)
        find_lengths(q);
    if (!find_unanswered(q))
        find_no_answer(q);
}

/* sentences_failed.c - the sentences of what failed: answers, requests without one, processes,
 * loads. See sentences.h. */
#include "findings/sentences.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/clock.h"
#include "console/format.h"
#include "findings/say.h"

/* "1 request", "2 requests". */
static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Whether a load tool made the requests; else they are those that the server had anyhow. */
static bool of_a_load(const struct mst_budget *b)
{
    return b->s->client.tool != NULL;
}

/* "label site, from /srv/index.php". */
static void say_which(char text[256], const char *label, const char *end)
{
    mst_say(text, 256, "label %s%s%s", label, end[0] != '\0' ? ", from " : "", end);
}

/* What a load measures whose answers are errors. An error that took long is not the error page's
 * time. */
static void say_measured(char text[64], const struct mst_finding *f, const struct mst_budget *b,
                         const struct mst_answers *a)
{
    text[0] = '\0';
    if (a->took_ns != MST_UNKNOWN && a->took_ns >= MST_ERROR_TOOK_NS)
        mst_say(text, 64, ", after %s on average", mst_format_time(a->took_ns).text);
    else if (of_a_load(b) && f->requests >= b->front->requests / 2)
        mst_say(text, 64, ": this measures the error page");
}

/* Whether PHP itself answered so, and no server in front of it. */
static bool are_phps(const struct mst_finding *f, const struct mst_budget *b)
{
    return b->php != NULL && b->php != b->front && !b->fleet &&
           b->php->errors_5xx != MST_UNKNOWN && b->php->errors_5xx >= f->requests / 10 * 9 &&
           b->php->errors_5xx > 0;
}

/* Adds that, and the other end of which as many calls failed. */
static void say_failed_calls(struct mst_finding *f, const struct mst_summary_server *php)
{
    const struct mst_summary_end *end = NULL;
    size_t i;

    for (i = 0; i < php->end_count; i++)
        if (php->ends[i].failed != MST_UNKNOWN && (end == NULL ||
                                                   php->ends[i].failed > end->failed))
            end = &php->ends[i];
    if (end != NULL && end->failed >= f->requests / 10 * 9)
        MST_MORE(f, " PHP itself answered so, and meanwhile %" PRIu64 " of its %" PRIu64 " calls "
                 "to %s failed.", end->failed, end->calls, end->name);
    else
        MST_MORE(f, " PHP itself answered so.");
}

void mst_say_answers(struct mst_finding *f, const struct mst_budget *b, const struct mst_answers *a)
{
    uint64_t status = a->status;
    char which[256], measured[64];

    say_which(which, a->label, a->end);
    say_measured(measured, f, b, a);
    if (a->most == f->requests)
        MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " answers were %" PRIu64 " (%s)%s.", f->requests,
                 b->front->requests, status, which, measured);
    else
        MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " answers were errors (%" PRIu64 " of them %" PRIu64
                 ", %s)%s.", f->requests, b->front->requests, a->most, status, which, measured);
    if (f->code == MST_CODE_ANSWERS_5XX && are_phps(f, b)) {
        say_failed_calls(f, b->php);
        MST_ACTION(f, "Look for the reason in PHP's error log (error_log) and in the "
                   "application's.");
    } else if (status == 503 || status == 502 || status == 504)
        MST_ACTION(f, "Look in Apache's error log. With a line of the proxy, 502 and 503 mean that "
                   "the backend is down, is full or has died, 504 that it took longer than "
                   "ProxyTimeout (by default Timeout); without one the application answered so.");
    else if (f->code == MST_CODE_ANSWERS_5XX)
        MST_ACTION(f, "Look for the reason in the error log of Apache, and in PHP's (error_log).");
    else if (!of_a_load(b))
        MST_ACTION(f, "Look for their URLs in the access log.");
    else
        MST_ACTION(f, "%s", status == 404 ? "Check the URL of the load." :
                   status == 401 || status == 403 ? "Check the access rules (Require) and what the "
                   "load tool sends." : "Check what the load tool sends.");
}

void mst_say_down(struct mst_finding *f, const struct mst_outage *o)
{
    struct mst_formatted since = mst_format_clock(o->since_ns);

    MST_TEXT(f, "PHP-FPM does not run: it %s %s%s. %" PRIu64 " of %" PRIu64 " requests that Apache "
             "handed to it since then were answered with 502 or 503 (%s).",
             o->was_stopped ? "was stopped at" : "was killed or crashed after", since.text,
             o->was_stopped ? ", or failed to start again at a reload then" : "", o->failed,
             o->answers, o->backend);
    if (o->was_stopped)
        MST_ACTION(f, "Start PHP-FPM (Debian: systemctl start php8.2-fpm, or another version). If "
                   "that fails, php-fpm -t (Debian: php-fpm8.2 -t) names the error in its "
                   "configuration.");
    else
        MST_ACTION(f, "Start PHP-FPM (Debian: systemctl start php8.2-fpm, or another version). Its "
                   "log and the kernel's log (dmesg, for a lack of memory) say why it ended.");
}

void mst_say_lengths(struct mst_finding *f, const struct mst_summary_client *c)
{
    MST_TEXT(f, "%" PRIu64 " of %s answers had another length than the first.", f->requests,
             mst_format_count(c->requests).text);
    MST_ACTION(f, "Run ab with -l where the page's length varies; else compare the answers.");
}

/* The first URL of the load's command, as a shell takes it; "URL": there is none that is short. */
static void say_url(char text[128], const struct mst_summary *s)
{
    const char *at = s->command_line;
    size_t n;

    mst_say(text, 128, "URL");
    for (; at != NULL && *at != '\0'; at += n + strspn(at + n, " ")) {
        n = strcspn(at, " ");
        if (n < 100 && (strncmp(at, "http", 4) == 0 || strncmp(at, "'http", 5) == 0) &&
            memmem(at, n, "://", 3) != NULL) {
            mst_say(text, 128, "%.*s", (int)n, at);
            return;
        }
    }
}

void mst_say_redirects(struct mst_finding *f, const struct mst_budget *b, bool most,
                       uint64_t status, const char *label, const char *end)
{
    const struct mst_summary_client *c = &b->s->client;
    bool goes_on = c->follows_redirects && c->known && c->non_2xx == 0;
    char which[256], url[128], so[160] = "";

    say_which(which, label, end);
    say_url(url, b->s);
    if (most && goes_on)
        mst_say(so, sizeof so, ". %s followed them to a server that is not recorded here, and its "
                "times are of both", c->tool);
    else if (most)
        mst_say(so, sizeof so, ": this measures the redirect, not the page that it leads to");
    else if (mst_summary_redirects_followed(b->s) > 0)
        mst_say(so, sizeof so, ". One request of %s causes two or more requests at the server: its "
                "times include all of them", c->tool);
    MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " answers were redirects (%" PRIu64 ", %s)%s.",
             f->requests, b->front->requests, status, which, so);
    MST_ACTION(f, "Load the URL that the redirect leads to: curl -sI %s shows it behind "
               "\"Location\".%s", url, most && goes_on ? " Record the server that it is on." : "");
}

/* ---- clients ------------------------------------------------------------------------------- */

void mst_say_aborts(struct mst_finding *f, const struct mst_budget *b, uint64_t aborted)
{
    MST_TEXT(f, "Clients left before they had the answer: %" PRIu64 " of %" PRIu64 " requests, "
             "which take %s on average.", aborted, b->front->requests,
             mst_format_time(b->front->phases[MST_PHASE_TOTAL].mean_ns).text);
    MST_ACTION(f, "Shorten what makes these answers slow, or give the clients more time: the "
               "server works for answers that nobody reads.");
}

/* "it waits no longer", where all are alike; else "58 took longer than it waits, 2 ...". */
static void say_kinds(char text[224], const struct mst_unanswered *u)
{
    const struct { uint64_t n; const char *all, *some; } kinds[] = {
        { u->timeout, "they took longer than it waits", "took longer than it waits" },
        { u->connect, "it could not connect", "could not connect" },
        { u->receive, "their connections ended first", "lost the connection" },
        { u->other, "they failed for another reason", "failed for another reason" },
        { u->unknown, "it does not say why", "failed for a reason that it does not say" },
    };
    size_t used = 0, i;

    text[0] = '\0';
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n == u->requests) {
            mst_say(text, 224, "%s", kinds[i].all);
            return;
        } else if (kinds[i].n > 0) {
            mst_say(text + used, 224 - used, "%s%" PRIu64 " %s", used > 0 ? ", " : "", kinds[i].n,
                    kinds[i].some);
            used = strlen(text);
        }
}

void mst_say_unanswered(struct mst_finding *f, const struct mst_summary *s,
                        const struct mst_unanswered *u)
{
    const char *tool = s->client.tool, *more = "";
    char kinds[224], completed[96] = "", words[MST_WORDS_MAX + 16] = "";

    say_kinds(kinds, u);
    if (u->completed > 0)
        mst_say(completed, sizeof completed, ". The server completed %" PRIu64 " of these, most "
                "likely too late", u->completed);
    if (u->words[0] != '\0')
        mst_say(words, sizeof words, " (\"%s\")", u->words);
    MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " requests of %s got no answer: %s%s%s.",
             u->requests, u->made > u->requests ? u->made : u->requests, tool, kinds, words,
             completed);
    if (u->unknown > 0 && s->added != NULL && s->client.rows_omit_failures)
        more = " Record with --no-flags to see the load tool's own messages.";
    if (f->code == MST_CODE_CLIENT_ABORTS)
        MST_ACTION(f, "Shorten what makes these answers slow, or have %s wait longer: the server "
                   "works for answers that nobody reads.%s", tool, more);
    else
        MST_ACTION(f, "Check that the server listens at that address, and look in its error log "
                   "for what closed connections.%s", more);
}

void mst_say_no_answer(struct mst_finding *f, const struct mst_summary *s)
{
    MST_TEXT(f, "%s got not one answer in %s.", s->client.tool,
             mst_format_time(s->duration_ns).text);
    MST_ACTION(f, "Try one request by hand, with the time that it takes: curl -i URL. Run the load "
               "for longer than that.");
}

/* ---- the load ------------------------------------------------------------------------------ */

static void say_how_it_failed(char text[160], const struct mst_summary *s)
{
    const char *tool = s->client.tool != NULL ? s->client.tool : "The load";

    if (s->exit_signal != MST_UNKNOWN && s->exit_signal < 128)
        mst_say(text, 160, "%s was ended by signal %" PRIu64 " (%s)", tool, s->exit_signal,
                strsignal((int)s->exit_signal));
    else if (s->exit_status != MST_UNKNOWN && s->exit_status != 0)
        mst_say(text, 160, "%s failed with exit status %" PRIu64, tool, s->exit_status);
    else
        mst_say(text, 160, "%s was stopped", tool);
}

void mst_say_cut_short(struct mst_finding *f, const struct mst_summary *s, const char *words)
{
    char how[160], when[64] = "", said[MST_WORDS_MAX + 16] = "";

    if (s->duration_ns != MST_UNKNOWN)
        mst_say(when, sizeof when, " after %s", mst_format_time(s->duration_ns).text);
    if (words[0] != '\0')
        mst_say(said, sizeof said, " (\"%s\")", words);
    if (s->outcome == MST_OUTCOME_FAILED) {
        say_how_it_failed(how, s);
        MST_TEXT(f, "%s%s%s.", how, when, said);
        MST_ACTION(f, "Run the load tool by itself until it ends well, then record it again.");
    } else if (s->outcome == MST_OUTCOME_TIMEOUT) {
        MST_TEXT(f, "%s had not ended%s, and was stopped.",
                 s->client.tool != NULL ? s->client.tool : "The load", when);
        MST_ACTION(f, "Make the load shorter, or record with a larger --timeout.");
    } else {
        MST_TEXT(f, "The run was interrupted%s.", when);
        MST_ACTION(f, "Let the load run to its end, and record it again.");
    }
}

/* ---- processes and restarts ---------------------------------------------------------------- */

void mst_say_deaths(struct mst_finding *f, const struct mst_summary_server *server, uint64_t n,
                    uint64_t killed)
{
    bool is_php = mst_summary_is_php(server);
    const char *what = is_php ? "PHP" : "Apache";

    if (killed == 0) {
        MST_TEXT(f, "%" PRIu64 " request%s died with their process, which %s's parent ended.", n,
                 plural(n), what);
        MST_ACTION(f, "Look in the error log for what the parent says of it.");
        return;
    }
    if (mst_known(server->signalled) > 0) {
        MST_TEXT(f, "%" PRIu64 " request%s died with their process: a signal ended %" PRIu64
                 " process%s of %s.", n, plural(n), killed, killed == 1 ? "" : "es", what);
        MST_ACTION(f, "Look in the error log for the crash (AH00051, AH00052, FPM's \"exited on "
                   "signal\").");
        return;
    }
    MST_TEXT(f, "%" PRIu64 " request%s died with their process: %" PRIu64 " process%s of %s ended "
             "in the middle of them%s.", n, plural(n), killed, killed == 1 ? "" : "es", what,
             is_php ? "" : ", with no signal in Apache's log");
    MST_ACTION(f, "Look with journalctl -k for \"Killed process\": the kernel kills one where "
               "memory runs out. Look in the error log, too%s.", is_php ?
               ": FPM says \"exited on signal\" or \"exited with code\"" :
               ": a module that calls exit() ends its process, as mod_fcgid does where it says "
               "\"can't get pipe mutex\" (Mutex posixsem fcgid-pipe prevents that)");
}

void mst_say_fatal(struct mst_finding *f, const struct mst_summary_server *php)
{
    uint64_t timeouts = php->timeouts != MST_UNKNOWN ? php->timeouts : 0;
    char limit[96] = "", memory[96] = "";

    if (timeouts > 0)
        mst_say(limit, sizeof limit, ", %" PRIu64 " of them at max_execution_time", timeouts);
    if (php->max_memory_bytes != MST_UNKNOWN && php->max_memory_bytes > 0)
        mst_say(memory, sizeof memory, " (the largest request used %s)",
                mst_format_bytes(php->max_memory_bytes).text);
    MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " PHP requests ended with a fatal error%s%s%s%s.",
             f->requests, php->requests, limit, f->subject[0] != '\0' ? ", most in " : "",
             f->subject, memory);
    MST_ACTION(f, "Look for the message in PHP's error log (error_log in php.ini, or Apache's): "
               "memory_limit, an uncaught exception, or a missing function.");
}

void mst_say_restarts(struct mst_finding *f, const struct mst_budget *b,
                      const struct mst_summary_server *server, bool anew, bool ended_some)
{
    uint64_t first_ns = mst_finding_number(f, "first_ns");
    char when[64] = "", waited[96] = "";

    if (f->share_milli != MST_UNKNOWN)
        mst_say(waited, sizeof waited, " Requests waited for workers meanwhile (%s of the time of "
                "all requests).", mst_format_percent(f->share_milli).text);
    if (first_ns != MST_UNKNOWN)
        mst_say(when, sizeof when, ", first %s after the %s",
                mst_format_time(first_ns).text, of_a_load(b) ? "load's start" : "beginning");
    MST_TEXT(f, "%s was %s%s%s.%s", mst_summary_is_php(server) ? "PHP" : "Apache",
             anew ? "stopped and started" : "restarted",
             of_a_load(b) ? " while the load ran" : "", when, waited);
    if (ended_some)
        MST_ACTION(f, "A reload of PHP-FPM ends the requests that run, unless it gives them time: "
                   "set process_control_timeout (in the global section of php-fpm.conf; its "
                   "default is 0) to more than they take, as 10s.");
    else
        MST_ACTION(f, "%s", of_a_load(b) ?
               "Measure again without the restart. To see what the restart costs, compare the two "
               "runs." :
               "Find the time in the server's error log, and compare it with what reloads servers: "
               "cron, logrotate, upgrades of packages.");
}

void mst_say_old_children(struct mst_finding *f, uint64_t children, uint64_t longest_ns)
{
    MST_MORE(f, " %" PRIu64 " child%s of the generation before kept %s slot%s for up to %s.",
             children, children == 1 ? "" : "ren", children == 1 ? "its" : "their",
             plural(children), mst_format_time(longest_ns).text);
}

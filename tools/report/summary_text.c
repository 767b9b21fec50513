/* summary_text.c - a run's summary for a terminal: see report.h.
 *
 * The verdict and the findings stand first. Then come the servers, Apaches before PHPs: client and
 * server next to each other, where the server's time went, what it took. The checks stand last. The
 * brief text is a selection of these parts, and of their rows.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary_text.h"
#include "base/ratio.h"
#include "base/strings.h"
#include "console/format.h"
#include "doc/lines.h"
#include "exec/shell_quote.h"
#include "report/generators.h"
#include "report/names.h"
#include "report/parts.h"
#include "report/report.h"
#include "report/resources.h"
#include "report/servers.h"
#include "report/sides.h"
#include "segment/fields.h"
#include "segment/format.h"

#define PROGRAMS_SHOWN 5u
#define BRIEF_WIDTH    79u
#define LINE_WIDTH     100u   /* of tables: the figures leave little for long names */

/* What is written, and where to. */
struct view {
    struct mst_sink *sink;
    const struct mst_summary *s;
    const char *path;               /* the archive's */
    struct mst_text_form form;
};

/* A sentence that is put together piece by piece; what is too long for it is cut. */
struct sentence { char text[384]; size_t used; };

__attribute__((format(printf, 2, 3)))
static void extend(struct sentence *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    s->used = mst_string_append(s->text, sizeof s->text, s->used, format, args);
    va_end(args);
}

/* ---- the head -------------------------------------------------------------------- */

/* Which run it is. */
static void put_run(const struct view *v, unsigned indent)
{
    const struct mst_summary *s = v->s;
    char text[1024], count[48] = "";

    if (v->form.brief && mst_sides_have_one_count(s))
        snprintf(count, sizeof count, ", %s requests", mst_format_count(s->client.requests).text);
    snprintf(text, sizeof text, "run %lld%s%s of %s, %s%s%s%s", (long long)s->id,
             s->name != NULL ? " " : "", s->name != NULL ? s->name : "", v->path,
             mst_format_time(s->duration_ns).text, count, s->complete ? "" : ", not complete: ",
             s->complete ? "" : mst_outcome_names[s->outcome]);
    mst_wrapped_styled(v->sink, s->complete ? MST_STYLE_PLAIN : MST_STYLE_ERROR, "", indent,
                       v->form.width, text);
    if (s->thinned[0] != '\0')
        mst_wrapped_styled(v->sink, MST_STYLE_WARNING, "", indent, v->form.width, s->thinned);
}

static void put_head(const struct view *v)
{
    const struct mst_summary *s = v->s;

    if (s->command_line != NULL)
        mst_wrapped(v->sink, "", 2, v->form.width, s->command_line);
    if (s->added != NULL)
        mst_line(v->sink, "  (mpmstat added %s)", s->added);
    put_run(v, 2);
    mst_sink_char(v->sink, '\n');
}

/* Says where to read what the brief text leaves out. */
static void put_place(const struct view *v)
{
    char *const words[] = { (char *)v->path, NULL };
    char *path = mst_shell_quote(words), run[32] = "";

    if (v->s->id > 1)
        snprintf(run, sizeof run, "--run %lld ", (long long)v->s->id);
    put_run(v, 0);
    if (path != NULL && mst_summary_front(v->s) != NULL && mst_summary_front(v->s)->requests > 0) {
        mst_line(v->sink, "  more      mpmstat report -o run.html %s%s   # or --format text", run,
                 path);
    }
    free(path);
}

/* ---- the other side ------------------------------------------------------------------ */

/* How many requests of one side are joined with the other side's. */
static void put_joined(struct mst_sink *sink, const struct mst_summary *s,
                       const struct mst_summary_server *server)
{
    const struct mst_summary_overlay *php = &server->php;
    char text[256];
    size_t used;

    if (server == mst_summary_front(s) && mst_summary_is_php(server))
        return;
    if (mst_summary_is_php(server)) {
        snprintf(text, sizeof text, "%" PRIu64 " of these %" PRIu64 " requests are an Apache's "
                 "here", server->joined, server->requests);
    } else if (php->known) {
        used = (size_t)snprintf(text, sizeof text, "%" PRIu64 " of these %" PRIu64 " requests came "
                                "to PHP, as far as its board knows", php->joined,
                                server->requests);
        if (php->wait_unknown > 0)
            snprintf(text + used, sizeof text - used, "; how long %" PRIu64 " of them waited for "
                     "it is not known", php->wait_unknown);
    } else {
        return;
    }
    mst_wrapped(sink, "  php", MST_TEXT_INDENT, MST_TEXT_WIDTH, text);
}

/* ---- what it took ---------------------------------------------------------------- */

/* ", 3 marks"; nothing for 0, or where it is not known. */
static void add_some(struct sentence *s, uint64_t n, const char *what)
{
    if (n != 0 && n != MST_UNKNOWN)
        extend(s, ", %" PRIu64 " %s", n, what);
}

static void put_workers(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct sentence s = { 0 };
    const char *lead = ": ";
    int i;

    extend(&s, "%s busy on average, %s at most", mst_format_milli(server->mean_busy_milli).text,
           mst_format_count(server->max_busy).text);
    if (server->workers_limit != MST_UNKNOWN)
        extend(&s, ", of %s", mst_format_count(server->workers_limit).text);
    else
        extend(&s, " (their limit is not known)");
    for (i = MST_STATE_IDLE + 1; i < MST_STATE_COUNT; i++) {
        if (server->mean_state_milli[i] == MST_UNKNOWN || server->mean_state_milli[i] < 10)
            continue;
        extend(&s, "%s%s %s", lead, mst_format_milli(server->mean_state_milli[i]).text,
               mst_state_names[i]);
        lead = ", ";
    }
    mst_wrapped_styled(sink, mst_summary_all_busy(server) ? MST_STYLE_WARNING : MST_STYLE_PLAIN,
                       "  workers", MST_TEXT_INDENT, MST_TEXT_WIDTH, s.text);
}

static void put_processes(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct sentence s = { 0 };

    extend(&s, "  processes %s forked, %s ended", mst_format_count(server->forks).text,
           mst_format_count(server->exits).text);
    add_some(&s, server->forks_failed, "forks refused");
    add_some(&s, server->generations, server->generations == 1 ? "restart" : "restarts");
    add_some(&s, server->unfinished, server->unfinished == 1 ? "request died with one" :
                                                               "requests died with one");
    add_some(&s, server->shed, "kept-alive connections shed");
    mst_line(sink, "%s", s.text);
}

/* What PHP's board says of its requests. */
static void put_script(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct sentence s = { 0 };

    extend(&s, "%s of CPU, %s at most for one request", mst_format_time(server->php_cpu_ns).text,
           mst_format_bytes(server->max_memory_bytes).text);
    add_some(&s, server->fatal, "fatal errors");
    add_some(&s, server->timeouts, "timeouts");
    add_some(&s, server->uncached, "that OPcache did not have yet");
    add_some(&s, server->marks, "marks");
    mst_wrapped(sink, "  scripts", MST_TEXT_INDENT, MST_TEXT_WIDTH, s.text);
}

static void put_opcache(struct mst_sink *sink, const struct mst_opcache *o)
{
    struct sentence s = { 0 };
    bool is_full = o->state == MST_OPCACHE_FULL;

    if (o->state == MST_OPCACHE_UNKNOWN)
        return;
    extend(&s, "%s", mst_opcache_names[o->state]);
    if (o->limit_bytes != MST_UNKNOWN)
        extend(&s, ", %s scripts in %s of %s", mst_format_count(o->scripts).text,
               mst_format_bytes(o->used_bytes).text, mst_format_bytes(o->limit_bytes).text);
    add_some(&s, o->restarts, o->restarts == 1 ? "restart of it" : "restarts of it");
    mst_wrapped_styled(sink, is_full ? MST_STYLE_WARNING : MST_STYLE_PLAIN, "  OPcache",
                       MST_TEXT_INDENT, MST_TEXT_WIDTH, s.text);
}

/* Whose it is, where its name does not tell it. */
static const char *owner_text(const struct mst_summary_program *program)
{
    static const char *const texts[] = {
        [MST_PROC_OTHER] = " (other)", [MST_PROC_SERVER] = " (server)",
        [MST_PROC_TOOL] = " (load tool)", [MST_PROC_RECORDER] = " (recording)",
    };

    return program->owner < sizeof texts / sizeof *texts ? texts[program->owner] : "";
}

/* The busiest programs of the machine, Apache's own among them. */
static void put_programs(struct mst_sink *sink, const struct mst_summary *s)
{
    struct sentence programs = { 0 };
    size_t i;

    for (i = 0; i < s->program_count && i < PROGRAMS_SHOWN; i++)
        extend(&programs, "%s%s %s%s", i > 0 ? ", " : "", s->programs[i].name,
               mst_format_time(s->programs[i].cpu_ns).text, owner_text(&s->programs[i]));
    mst_wrapped(sink, "", MST_TEXT_INDENT, MST_TEXT_WIDTH, programs.text);
}

static void put_clock(struct mst_sink *sink, const struct mst_summary_server *server)
{
    if (server->clock_uncertainty_ns != MST_UNKNOWN)
        mst_line(sink, "  clock     %s %s the recorder's, to %s: taken off",
                 mst_format_time(mst_summary_clock_ns(server)).text,
                 server->clock_ahead_ns >= 0 ? "ahead of" : "behind",
                 mst_format_time(server->clock_uncertainty_ns).text);
}

static void put_costs(struct mst_sink *sink, const struct mst_summary *s,
                      const struct mst_summary_server *server)
{
    uint64_t cpus_milli = server->cpu_ns == MST_UNKNOWN || s->duration_ns == MST_UNKNOWN ||
                          s->duration_ns == 0 ? MST_UNKNOWN :
        mst_milli(server->cpu_ns, s->duration_ns);

    put_joined(sink, s, server);
    put_workers(sink, server);
    put_processes(sink, server);
    if (mst_summary_is_php(server)) {
        put_script(sink, server);
        put_opcache(sink, &server->opcache);
    }
    if (server->peak_pss_bytes != MST_UNKNOWN)
        mst_line(sink, "  memory    %s PSS at most, in %s's %s processes (%s spent on reading it)",
                 mst_format_bytes(server->peak_pss_bytes).text, mst_producer_name(server->producer),
                 mst_format_count(server->peak_processes).text,
                 mst_format_time(s->memory_cost_ns).text);
    if (server->cpu_ns != MST_UNKNOWN)
        mst_line(sink, "  CPU       %s took %s: %s of %s CPU%s",
                 mst_producer_name(server->producer), mst_format_time(server->cpu_ns).text,
                 mst_format_milli(cpus_milli).text, mst_format_count(s->cpus).text,
                 s->cpus == 1 ? "" : "s");
    mst_resources_text(sink, s, server);
    put_clock(sink, server);
    if (server->unknown != NULL)
        mst_wrapped(sink, "  unknown", MST_TEXT_INDENT, MST_TEXT_WIDTH, server->unknown);
    if (server != mst_summary_front(s)) {   /* the machine is shown once */
        mst_sink_char(sink, '\n');
        return;
    }
    if (s->machine_busy_milli != MST_UNKNOWN)
        mst_line(sink, "  machine   its CPUs were %s busy (this recording: %s); programs, with "
                 "what ended under them:", mst_format_percent(s->machine_busy_milli).text,
             mst_format_time(s->recorder_cpu_ns).text);
    put_programs(sink, s);
    mst_machine_resources_text(sink, s);
    mst_sink_char(sink, '\n');
}

/* ---- whether to believe it ---------------------------------------------------------- */

/* In brief, those that say NO: what recording noted, it has said. */
static void put_checks(const struct view *v)
{
    struct mst_sink *sink = v->sink;
    const struct mst_summary *s = v->s;
    static const char *const words[] = {
        [MST_ANSWER_NO] = "NO", [MST_ANSWER_YES] = "ok", [MST_ANSWER_UNKNOWN] = "?",
    };
    char lead[32];
    size_t i;

    for (i = 0; i < MST_CHECK_COUNT; i++) {
        if (v->form.brief && s->checks[i].ok != MST_ANSWER_NO)
            continue;
        snprintf(lead, sizeof lead, "  %-3s %s", words[s->checks[i].ok], s->checks[i].name);
        mst_wrapped_styled(sink, s->checks[i].ok == MST_ANSWER_NO ? MST_STYLE_WARNING
                                                                  : MST_STYLE_PLAIN,
                           lead, 23, v->form.width, s->checks[i].text);
    }
    for (i = 0; i < s->note_count && !v->form.brief; i++)
        mst_wrapped_styled(sink, MST_STYLE_WARNING, "  note", 23, v->form.width, s->notes[i]);
}

/* The heading of one of several servers. */
static void put_target(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const char *kind = mst_summary_is_php(server) ? server->sapi : server->mpm;
    char text[1024];

    snprintf(text, sizeof text, "%s: %s%s%.20s%s", mst_summary_called(server),
             mst_producer_name(server->producer), kind != NULL ? " " : "", kind != NULL ? kind : "",
             server->requests == 0 ? ", no request of this load" : "");
    mst_wrapped_styled(sink, MST_STYLE_STRONG, "", 2, MST_TEXT_WIDTH, text);
}

static void put_server(const struct view *v, const struct mst_summary_server *server)
{
    const struct mst_doc doc = mst_doc_text(v->sink, v->form.width);
    const struct mst_summary *s = v->s;
    struct mst_sink *sink = v->sink;

    if (server->requests == 0 && !s->client.known)
        return;   /* the load never began: nothing to show */
    if (s->server_count > 1 && (!v->form.brief || mst_summary_fronts(s).count > 1))
        put_target(sink, server);
    if (s->server_count > 1 && server->requests == 0)
        return;
    if (server == mst_summary_front(s) && mst_summary_fronts(s).count == 1)
        mst_sides_put(&doc, s, &v->form);
    mst_summary_phases_text(sink, server, &v->form);
    if (v->form.brief)
        return;
    mst_ends_put(&doc, s, server);
    mst_names_put(&doc, server, NULL, MST_NAMES_FEW);
    put_costs(sink, s, server);
}

/* ---- the parts of a text ------------------------------------------------------------ */

static void put_findings(const struct view *v)
{
    mst_summary_findings_text(v->sink, v->s, &v->form);
    mst_sink_char(v->sink, '\n');
}

static void put_all_servers(const struct view *v)
{
    const struct mst_doc doc = mst_doc_text(v->sink, v->form.brief ? v->form.width : LINE_WIDTH);

    mst_servers_put(&doc, v->s, &v->form);
    if (!v->form.brief)
        mst_parts_by_server(&doc, v->s);
    if (v->s->server_count > 1 && mst_summary_fronts(v->s).count > 1 && v->s->client.known)
        mst_sides_put(&doc, v->s, &v->form);
}

static void put_generators(const struct view *v)
{
    const struct mst_doc doc = mst_doc_text(v->sink, LINE_WIDTH);

    mst_generators_put(&doc, v->s);
}

/* Apaches, PHPs, and those without a request, of which there is only a heading. */
enum place { APACHES, PHPS, UNUSED, PLACES };

static enum place place_of(const struct mst_summary_server *server)
{
    return server->requests == 0 ? UNUSED : mst_summary_is_php(server) ? PHPS : APACHES;
}

static void put_each_server(const struct view *v)
{
    enum place place;
    size_t i;

    for (place = 0; place < PLACES; place++)
        for (i = 0; i < v->s->server_count; i++)
            if (place_of(&v->s->servers[i]) == place)
                put_server(v, &v->s->servers[i]);
}

static void put_front(const struct view *v)
{
    const struct mst_summary_server *front = mst_summary_front(v->s);

    if (front != NULL)
        put_server(v, front);
}

/* The highest that the load had requests enough for. */
static unsigned brief_percentile(const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    enum mst_percentile p = MST_P99;

    while (p > MST_P50 && front != NULL &&
           mst_summary_percentile(&front->phases[MST_PHASE_TOTAL], p) == MST_UNKNOWN)
        p--;
    return 1u << p;
}

enum { BRIEF = 1, COMPLETE = 2 };

static void put_parts(const struct view *v, unsigned text)
{
    static const struct { void (*put)(const struct view *); unsigned texts; } parts[] = {
        { put_head, COMPLETE }, { put_findings, BRIEF | COMPLETE },
        { put_all_servers, BRIEF | COMPLETE }, { put_generators, COMPLETE },
        { put_each_server, COMPLETE }, { put_front, BRIEF }, { put_checks, BRIEF | COMPLETE },
        { put_place, BRIEF },
    };
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].texts & text)
            parts[i].put(v);
}

void mst_report_text(struct mst_sink *sink, const struct mst_summary *s, const char *path,
                     unsigned percentiles)
{
    put_parts(&(struct view){ sink, s, path, { percentiles, MST_TEXT_WIDTH, false } }, COMPLETE);
}

void mst_report_brief(struct mst_sink *sink, const struct mst_summary *s, const char *path,
                      unsigned percentiles)
{
    if (percentiles == 0)
        percentiles = brief_percentile(s);
    put_parts(&(struct view){ sink, s, path, { percentiles, BRIEF_WIDTH, true } }, BRIEF);
}

/* profile.c - PHP's code as profiles that other programs show: folded stacks (flamegraph.pl,
 * inferno), speedscope's JSON, pprof's protobuf (go tool pprof, Pyroscope, Parca).
 *
 * Each has CPU time and waiting. In folded stacks a wait's kind is its innermost function, in
 * brackets, so that one picture has both.
 */
#include "report/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/php_code.h"
#include "archive/archive.h"
#include "base/clock.h"
#include "console/diag.h"
#include "render/json_writer.h"
#include "render/message.h"
#include "report/report.h"
#include "segment/format.h"

#define DEPTH (MST_STACK_DEPTH + 1)

/* ---- folded stacks ------------------------------------------------------------------------- */

static void put_text(struct mst_sink *sink, const char *text)
{
    for (; *text != '\0'; text++)
        mst_sink_char(sink, *text == ';' || *text < ' ' || *text > '~' ? '?' : *text);
}

static void put_frame(struct mst_sink *sink, const struct mst_php_frame *frame)
{
    put_text(sink, frame->function);
    if (frame->file[0] == '\0')
        return;
    mst_sink_puts(sink, " (");
    put_text(sink, frame->file);
    mst_sink_puts(sink, ")");
}

/* The time of a stack's kind; frames: the outermost first. */
typedef void put_time(void *to, const struct mst_php_code *code,
                      const struct mst_php_frame *const *frames, size_t depth, unsigned kind,
                      uint64_t ns);

static void put_times(const struct mst_php_code *code, put_time *put, void *to)
{
    const struct mst_php_frame *frames[DEPTH];
    unsigned kind;
    size_t i, depth;

    for (i = 0; i < code->stack_count; i++) {
        depth = mst_php_code_walk(code, &code->stacks[i], frames, DEPTH);
        for (kind = 0; depth > 0 && kind < MST_SPENT_KINDS; kind++)
            if (code->stacks[i].times.ns[kind] > 0)
                put(to, code, frames, depth, kind, code->stacks[i].times.ns[kind]);
    }
}

/* A put_time: a line, whose number is microseconds. */
static void put_folded(void *to, const struct mst_php_code *code,
                       const struct mst_php_frame *const *frames, size_t depth, unsigned kind,
                       uint64_t ns)
{
    struct mst_sink *sink = to;
    size_t k;

    (void)code;
    if (ns < MST_NS_PER_US)
        return;
    for (k = 0; k < depth; k++) {
        mst_sink_puts(sink, k > 0 ? ";" : "");
        put_frame(sink, frames[k]);
    }
    if (kind != MST_SPENT_CPU) {
        mst_sink_puts(sink, ";[");
        mst_sink_puts(sink, mst_code_kind_name(kind));
        mst_sink_puts(sink, "]");
    }
    mst_sink_char(sink, ' ');
    mst_sink_u64(sink, ns / MST_NS_PER_US);
    mst_sink_char(sink, '\n');
}

/* ---- speedscope ---------------------------------------------------------------------------- */

static uint64_t of_kind(const struct mst_php_stack *stack, bool waits)
{
    return waits ? mst_code_waiting_ns(&stack->times) : stack->times.ns[MST_SPENT_CPU];
}

/* The frame's index in "frames". */
static size_t index_of(const struct mst_php_code *code, const struct mst_php_frame *frame)
{
    return (size_t)(frame - code->frames);
}

static void put_stack(struct mst_json *j, const struct mst_php_code *code,
                      const struct mst_php_stack *stack)
{
    const struct mst_php_frame *frames[DEPTH];
    size_t depth = mst_php_code_walk(code, stack, frames, DEPTH), i;

    mst_json_line(j, 3);
    mst_json_begin(j, NULL, '[');
    for (i = 0; i < depth; i++)
        mst_json_count(j, NULL, index_of(code, frames[i]));
    mst_json_end(j, ']');
}

static void put_speedscope(struct mst_json *j, const struct mst_php_code *code, bool waits)
{
    uint64_t total = 0;
    size_t i;

    for (i = 0; i < code->stack_count; i++)
        total += of_kind(&code->stacks[i], waits);
    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "type", "sampled");
    mst_json_string(j, "name", waits ? "waiting" : "CPU time");
    mst_json_string(j, "unit", "nanoseconds");
    mst_json_count(j, "startValue", 0);
    mst_json_count(j, "endValue", total);
    mst_json_begin(j, "samples", '[');
    for (i = 0; i < code->stack_count; i++)
        if (of_kind(&code->stacks[i], waits) > 0)
            put_stack(j, code, &code->stacks[i]);
    mst_json_end(j, ']');
    mst_json_begin(j, "weights", '[');
    for (i = 0; i < code->stack_count; i++)
        if (of_kind(&code->stacks[i], waits) > 0)
            mst_json_count(j, NULL, of_kind(&code->stacks[i], waits));
    mst_json_end(j, ']');
    mst_json_end(j, '}');
}

static void put_file_of_speedscope(struct mst_sink *sink, const struct mst_php_code *code,
                                   const char *name)
{
    struct mst_json writer = { .out = sink }, *j = &writer;
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    mst_json_string(j, "name", name);
    mst_json_string(j, "exporter", "mpmstat " MPMSTAT_VERSION);
    mst_json_begin(j, "shared", '{');
    mst_json_begin(j, "frames", '[');
    for (i = 0; i < code->frame_count; i++) {
        mst_json_line(j, 2);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "name", code->frames[i].function);
        if (code->frames[i].file[0] != '\0')
            mst_json_string(j, "file", code->frames[i].file);
        if (code->frames[i].line > 0)
            mst_json_count(j, "line", code->frames[i].line);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
    mst_json_end(j, '}');
    mst_json_begin(j, "profiles", '[');
    put_speedscope(j, code, false);
    put_speedscope(j, code, true);
    mst_json_end(j, ']');
    mst_json_end(j, '}');
    mst_sink_char(sink, '\n');
}

/* ---- pprof: message Profile of github.com/google/pprof, proto/profile.proto ------------------ */

/* Numbers of the texts that come before those of functions: a function's name has the number
 * TEXTS + 2 * its index, its file the next one. */
enum text { NONE, CPU, WAIT, NANOSECONDS, KIND, KINDS, TEXTS = KINDS + MST_SPENT_KINDS };

static void put_text_field(struct mst_message *m, const char *text)
{
    size_t begin = m->used;

    mst_message_write(m, text, strlen(text));
    mst_message_end(m, 6, begin);
}

static void put_texts(struct mst_message *m, const struct mst_php_code *code)
{
    static const char *const texts[] = { "", "cpu", "wait", "nanoseconds", "kind" };
    unsigned kind;
    size_t i;

    for (i = 0; i < KINDS; i++)
        put_text_field(m, texts[i]);
    for (kind = 0; kind < MST_SPENT_KINDS; kind++)
        put_text_field(m, mst_code_kind_name(kind));
    for (i = 0; i < code->frame_count; i++) {
        put_text_field(m, code->frames[i].function);
        put_text_field(m, code->frames[i].file);
    }
}

static void put_type(struct mst_message *m, unsigned field, enum text type)
{
    size_t begin = m->used;

    mst_message_u64(m, 1, type);
    mst_message_u64(m, 2, NANOSECONDS);
    mst_message_end(m, field, begin);
}

/* A location's number, and its function's, is the frame's index plus 1: 0 is none. */
static void put_locations(struct mst_message *m, const struct mst_php_code *code)
{
    size_t i, location, line;

    for (i = 0; i < code->frame_count; i++) {
        location = m->used;
        mst_message_u64(m, 1, i + 1);
        line = m->used;
        mst_message_u64(m, 1, i + 1);
        mst_message_u64(m, 2, code->frames[i].line);
        mst_message_end(m, 4, line);
        mst_message_end(m, 4, location);
        location = m->used;
        mst_message_u64(m, 1, i + 1);
        mst_message_u64(m, 2, TEXTS + 2 * i);
        mst_message_u64(m, 3, TEXTS + 2 * i);
        mst_message_u64(m, 4, TEXTS + 2 * i + 1);
        mst_message_end(m, 5, location);
    }
}

/* A put_time: a sample. */
static void put_sample(void *to, const struct mst_php_code *code,
                       const struct mst_php_frame *const *frames, size_t depth, unsigned kind,
                       uint64_t ns)
{
    struct mst_message *m = to;
    size_t sample = m->used, begin;

    for (; depth > 0; depth--)   /* the innermost first */
        mst_message_u64(m, 1, index_of(code, frames[depth - 1]) + 1);
    mst_message_u64(m, 2, kind == MST_SPENT_CPU ? ns : 0);
    mst_message_u64(m, 2, kind == MST_SPENT_CPU ? 0 : ns);
    begin = m->used;
    mst_message_u64(m, 1, KIND);
    mst_message_u64(m, 2, KINDS + kind);
    mst_message_end(m, 3, begin);
    mst_message_end(m, 2, sample);
}

static void put_pprof(struct mst_sink *sink, const struct mst_php_code *code,
                      const struct mst_profile_of *of)
{
    struct mst_message m = { .bytes = NULL };

    put_type(&m, 1, CPU);
    put_type(&m, 1, WAIT);
    put_times(code, put_sample, &m);
    put_locations(&m, code);
    put_texts(&m, code);
    mst_message_u64(&m, 9, of->started_ns);
    mst_message_u64(&m, 10, of->duration_ns);
    put_type(&m, 11, CPU);
    mst_message_u64(&m, 14, CPU);   /* what is shown first */
    if (m.out_of_memory)
        mst_sink_fail(sink, ENOMEM);
    else
        mst_sink_bytes(sink, m.bytes, m.used);
    free(m.bytes);
}

static void put_code(struct mst_sink *sink, const struct mst_php_code *code,
                     enum mst_profile_format format, const struct mst_profile_of *of)
{
    switch (format) {
    case MST_PROFILE_SPEEDSCOPE: put_file_of_speedscope(sink, code, of->name); break;
    case MST_PROFILE_PPROF:      put_pprof(sink, code, of); break;
    default:                     put_times(code, put_folded, sink);
    }
}

enum mst_profile_put mst_profile_put(struct mst_sink *sink, sqlite3 *db, int64_t server,
                                     enum mst_profile_format format,
                                     const struct mst_profile_of *of, bool is_first)
{
    enum mst_profile_put put = MST_PROFILE_NONE;
    struct mst_php_code code;

    if (!mst_php_code_read(&code, db, server)) {
        put = MST_PROFILE_UNREADABLE;
    } else if (code.stack_count > 0 && !is_first && format != MST_PROFILE_FOLDED) {
        put = MST_PROFILE_SEVERAL;
    } else if (code.stack_count > 0) {
        put_code(sink, &code, format, of);
        put = MST_PROFILE_PUT;
    }
    mst_php_code_free(&code);
    return put;
}

/* ---- all servers of runs ------------------------------------------------------------------- */

static int put_server(struct mst_sink *sink, const struct mst_report_run *run, int64_t server,
                      enum mst_profile_format format, size_t *written, char error[MST_ERROR_MAX])
{
    const struct mst_profile_of of = { run->title, run->summary.started_ns,
                                       run->summary.duration_ns };

    switch (mst_profile_put(sink, mst_archive_db(run->archive), server, format, &of,
                            *written == 0)) {
    case MST_PROFILE_UNREADABLE:
        return mst_archive_unreadable(run->archive, error);
    case MST_PROFILE_SEVERAL:
        return mst_fail(error, MST_PROFILE_OF_ONE "choose a run with --run, or take --format "
                        "folded");
    case MST_PROFILE_PUT:
        ++*written;
        break;
    case MST_PROFILE_NONE:
        break;
    }
    return 0;
}

int mst_report_profile(struct mst_sink *sink, const struct mst_report *report,
                       enum mst_profile_format format, char error[MST_ERROR_MAX])
{
    size_t i, k, written = 0;

    for (i = 0; i < report->count; i++)
        for (k = 0; k < report->runs[i].summary.server_count; k++)
            if (put_server(sink, &report->runs[i], report->runs[i].summary.servers[k].id, format,
                           &written, error) != 0)
                return -1;
    if (written == 0)
        mst_warn("there are no samples of PHP's code: PHP's extension takes them (mpmstat.profile, "
                 "mpmstat.places in php.ini), and record has them from a board, not by URL");
    return 0;
}

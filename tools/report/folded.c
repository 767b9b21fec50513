/* folded.c - PHP's code as folded stacks, which flamegraph.pl, inferno, speedscope and others read:
 * a line for each stack, its functions from the outermost on, and microseconds of CPU time.
 */
#include "analysis/php_code.h"
#include "archive/archive.h"
#include "base/clock.h"
#include "report/report.h"
#include "segment/format.h"

/* ";" divides functions, and a line ends a stack. Archives can have any byte. */
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
    if (frame->line > 0) {
        mst_sink_char(sink, ':');
        mst_sink_u64(sink, frame->line);
    }
    mst_sink_puts(sink, ")");
}

static void put_code(struct mst_sink *sink, const struct mst_php_code *code)
{
    const struct mst_php_frame *frames[MST_STACK_DEPTH + 1];
    size_t i, k, depth;

    for (i = 0; i < code->stack_count; i++) {
        depth = mst_php_code_walk(code, &code->stacks[i], frames, MST_STACK_DEPTH + 1);
        if (code->stacks[i].cpu_ns < MST_NS_PER_US || depth == 0)
            continue;
        for (k = 0; k < depth; k++) {
            mst_sink_puts(sink, k > 0 ? ";" : "");
            put_frame(sink, frames[k]);
        }
        mst_sink_char(sink, ' ');
        mst_sink_u64(sink, code->stacks[i].cpu_ns / MST_NS_PER_US);
        mst_sink_char(sink, '\n');
    }
}

int mst_report_folded(struct mst_sink *sink, const struct mst_report *report,
                      char error[MST_ERROR_MAX])
{
    struct mst_php_code code;
    size_t i, k;

    for (i = 0; i < report->count; i++)
        for (k = 0; k < report->runs[i].summary.server_count; k++) {
            if (!mst_php_code_read(&code, report->pool, mst_archive_db(report->runs[i].archive),
                               report->runs[i].summary.servers[k].id)) {
                mst_archive_unreadable(report->runs[i].archive, error);
                return -1;
            }
            put_code(sink, &code);
        }
    return 0;
}

/* code.c - where in PHP's code a server's time was: see code.h. */
#include "report/code.h"

#include "analysis/code_bill.h"
#include "base/ratio.h"
#include "doc/markup.h"
#include "doc/table.h"
#include "read/component.h"
#include "render/figures.h"
#include "report/page.h"
#include "segment/fields.h"
#include "segment/format.h"

/* Stacks with less of the whole are one box of the flame graph: it could not be seen. */
#define SMALLEST_PART 5000u

/* ---- bills --------------------------------------------------------------------------------- */

/* "database, 81.0 %" of the waiting; blank: there was none. */
static void put_longest_wait(struct mst_doc_table *t, const struct mst_code_times *times)
{
    unsigned kind, longest = 1;

    for (kind = 2; kind < MST_SPENT_KINDS; kind++)
        if (times->ns[kind] > times->ns[longest])
            longest = kind;
    if (times->ns[longest] == 0)
        mst_doc_blank(t);
    else
        mst_doc_words(t, "%s, %s", mst_code_kind_name(longest),
                      mst_format_percent(mst_milli(times->ns[longest],
                                                   mst_code_waiting_ns(times))).text);
}

static void put_name(struct mst_doc_table *t, const struct mst_code_account *account,
                     enum mst_bill_by by)
{
    char words[MST_CODE_WORDS_MAX];

    if (account->frame == NULL) {
        mst_doc_words(t, "(PHP itself)");
    } else if (by == MST_BILL_BY_COMPONENT) {
        mst_doc_words(t, "%s", account->component);
    } else if (by == MST_BILL_BY_SCRIPT) {
        mst_doc_words(t, "%s", account->frame->file);
    } else {
        mst_code_words(words, account->frame->function, account->frame->file, account->frame->line);
        mst_doc_words(t, "%s", words);
    }
}

/* A bill of fewer accounts is left out: one script says nothing. */
static const size_t least[] = {
    [MST_BILL_BY_COMPONENT] = 1, [MST_BILL_BY_FUNCTION] = 1, [MST_BILL_BY_SCRIPT] = 2,
};

enum { NAME, SHARE, CPU, WAITING, LONGEST, WIDTH };

static void put_bill(const struct mst_doc *doc, const struct mst_code_bill *bill,
                     enum mst_bill_by by, size_t most)
{
    static const char *const titles[] = {
        [MST_BILL_BY_FUNCTION] = "PHP's code by function",
        [MST_BILL_BY_COMPONENT] = "PHP's code by component",
        [MST_BILL_BY_SCRIPT] = "PHP's code by script",
    };
    static const char *const about[] = {
        [MST_BILL_BY_COMPONENT] = "CPU time and waiting of all requests, from samples, by plugin, "
            "theme, module or package; else by folder. What a library does is on the account of "
            "the application's code that called it.",
        [MST_BILL_BY_FUNCTION] = "The same by function. The line is the one with most of it.",
        [MST_BILL_BY_SCRIPT] = "The same by the file that a request began in.",
    };
    static const char *const names[] = {
        [MST_BILL_BY_FUNCTION] = "function", [MST_BILL_BY_COMPONENT] = "component",
        [MST_BILL_BY_SCRIPT] = "script",
    };
    const struct mst_doc_column columns[WIDTH] = {
        [NAME] = { names[by], .kind = MST_DOC_NAME },
        [SHARE] = { "share of time", .word = "of time", .quantity = MST_QUANTITY_SHARE },
        [CPU] = { "CPU time", .word = "cpu", .quantity = MST_QUANTITY_TIME },
        [WAITING] = { "waiting", .quantity = MST_QUANTITY_TIME },
        [LONGEST] = { "longest for", .kind = MST_DOC_WORDS },
    };
    struct mst_doc_table t;
    size_t i;

    mst_doc_heading(doc, "%s", titles[by]);
    mst_doc_explain(doc, about[by]);
    mst_doc_table_begin(&t, columns, WIDTH);
    mst_doc_sorted(&t, SHARE);
    for (i = 0; i < bill->count && i < most; i++) {
        const struct mst_code_account *account = &bill->accounts[i];

        mst_doc_row(&t, MST_STYLE_PLAIN);
        put_name(&t, account, by);
        mst_doc_number(&t, mst_milli(account->total_ns, bill->total_ns));
        mst_doc_number(&t, account->times.ns[MST_SPENT_CPU]);
        mst_doc_number(&t, mst_code_waiting_ns(&account->times));
        put_longest_wait(&t, &account->times);
    }
    mst_doc_table_end(&t, doc, titles[by], "sortable");
    mst_doc_space(doc);
}

bool mst_code_put(const struct mst_doc *doc, const struct mst_summary_server *server, sqlite3 *db,
                  size_t most, size_t run, size_t number)
{
    struct mst_code_bills bills = { 0 };
    bool fine = mst_code_bills_read(&bills, db, server->id);
    unsigned by;

    if (fine && bills.code.stack_count > 0 && doc->format == MST_DOC_HTML)
        mst_html(doc->sink, "<h3>PHP's code</h3>\n<div class=\"flame\" data-run=\"%zu\" "
                 "data-server=\"%zu\">" MST_PAGE_NO_SCRIPT "</div>\n", run, number);
    for (by = 0; by < MST_BILLS && fine; by++) {
        const struct mst_code_bill *bill = mst_code_bill(&bills, by);

        fine = bill != NULL;
        if (fine && bill->count >= least[by])
            put_bill(doc, bill, by, most);
    }
    mst_code_bills_free(&bills);
    return fine;
}

/* ---- the flame graph's data ---------------------------------------------------------------- */

static void put_frame(struct mst_json *j, const struct mst_php_frame *frame)
{
    struct mst_component component;

    mst_component_of(&component, frame->file);
    mst_json_line(j, 1);
    mst_json_begin(j, NULL, '[');
    mst_json_string(j, NULL, frame->function);
    mst_json_string(j, NULL, frame->file);
    mst_json_count(j, NULL, frame->line);
    mst_json_string(j, NULL, component.name);
    mst_json_end(j, ']');
}

/* [[indices of frames, the outermost first], index of the one that is named, {"cpu": seconds}] */
static void put_stack(struct mst_json *j, const struct mst_php_code *code,
                      const struct mst_php_stack *stack)
{
    const struct mst_php_frame *frames[MST_STACK_DEPTH + 1];
    const struct mst_php_frame *named = mst_php_code_named(code, stack);
    size_t depth = mst_php_code_walk(code, stack, frames, MST_STACK_DEPTH + 1), i;
    unsigned kind;

    mst_json_line(j, 1);
    mst_json_begin(j, NULL, '[');
    mst_json_begin(j, NULL, '[');
    for (i = 0; i < depth; i++)
        mst_json_count(j, NULL, (size_t)(frames[i] - code->frames));
    mst_json_end(j, ']');
    mst_json_count(j, NULL, named != NULL ? (size_t)(named - code->frames) : MST_UNKNOWN);
    mst_json_begin(j, NULL, '{');
    for (kind = 0; kind < MST_SPENT_KINDS; kind++)
        if (stack->times.ns[kind] > 0)
            mst_json_seconds(j, mst_code_kind_name(kind), stack->times.ns[kind]);
    mst_json_end(j, '}');
    mst_json_end(j, ']');
}

static void put_data(struct mst_json *j, const struct mst_php_code *code)
{
    uint64_t all = 0, small = 0;
    size_t i;

    for (i = 0; i < code->stack_count; i++)
        all += mst_code_total_ns(&code->stacks[i].times);
    mst_json_begin(j, "code", '{');
    mst_json_begin(j, "frames", '[');
    for (i = 0; i < code->frame_count; i++)
        put_frame(j, &code->frames[i]);
    mst_json_end(j, ']');
    mst_json_begin(j, "stacks", '[');
    for (i = 0; i < code->stack_count; i++)
        if (mst_code_total_ns(&code->stacks[i].times) <= all / SMALLEST_PART)
            small += mst_code_total_ns(&code->stacks[i].times);
        else
            put_stack(j, code, &code->stacks[i]);
    mst_json_end(j, ']');
    mst_json_seconds(j, "small", small);
    mst_json_end(j, '}');
}

bool mst_code_data(struct mst_json *j, const struct mst_summary_server *server, sqlite3 *db)
{
    struct mst_php_code code;
    bool fine = mst_php_code_read(&code, db, server->id);

    if (fine && code.stack_count > 0)
        put_data(j, &code);
    else
        mst_json_string(j, "code", NULL);
    mst_php_code_free(&code);
    return fine;
}

/* in_code.c - where in PHP's code the time of a finding was spent: see in_code.h. */
#include "findings/in_code.h"

#include <string.h>

#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "findings/say.h"
#include "findings/sentences.h"
#include "render/figures.h"
#include "segment/fields.h"

/* What calls of a kind from a function cost the requests in which it had most of the time. */
struct calls { uint64_t calls, ns; };

static struct calls ask_calls(struct mst_inquiry *q, unsigned kind,
                              const struct mst_php_frame *frame)
{
    struct mst_query row = mst_query_ask(q->db,
        "SELECT sum(w.stack_calls * p.weight) AS calls, sum(w.stack_ns * p.weight) AS ns "
        "FROM php_requests p CROSS JOIN php_waits w ON w.server_id = p.server_id AND "
        "w.key = p.key CROSS JOIN frames f ON f.server_id = p.server_id AND f.frame = w.frame "
        "WHERE p.server_id = :id AND p.ghost = 0 AND w.kind = :kind AND f.function = :function "
        "AND f.file = :file", q->b.php->id);
    struct calls calls = { 0, 0 };

    mst_query_set_text(&row, ":kind", mst_code_kind_name(kind));
    mst_query_set_text(&row, ":function", frame->function);
    mst_query_set_text(&row, ":file", frame->file);
    if (mst_query_next(&row) && !mst_row_is_null(&row, "calls"))
        calls = (struct calls){ mst_row_number(&row, "calls"), mst_row_number(&row, "ns") };
    if (!mst_query_done(&row))
        q->failed = true;
    return calls;
}

/* " 71 % of it was in plugins/shop.": the component where it has a name, else the function. */
static void say_where(struct mst_finding *f, unsigned kind, const char *name, uint64_t milli)
{
    MST_MORE(f, " %s of %s was %s %s.", mst_format_percent(milli).text,
             kind == MST_SPENT_CPU ? "PHP's CPU time" : "that wait",
             kind == MST_SPENT_CPU ? "in" : "called from", name);
}

static void say_first(struct mst_finding *f, const struct mst_finding_place *place)
{
    char words[MST_CODE_WORDS_MAX], calls[64] = "";

    mst_code_words(words, place->function, place->file, place->line);
    if (place->calls_milli != MST_UNKNOWN)
        MST_SAY(calls, ", %s calls a request", mst_format_milli(place->calls_milli).text);
    mst_say_more(f->action, sizeof f->action, " Begin with %s: %s of it%s.", words,
                 mst_format_percent(place->share_milli).text, calls);
}

static bool has_name(const char *component)
{
    return component[0] != '\0' && component[0] != '/';
}

/* One call stack has the function's time where its own is known and is nearly all: then its calls
 * are all there are. */
static uint64_t calls_milli(struct mst_inquiry *q, unsigned kind,
                            const struct mst_code_account *most)
{
    struct calls calls = { 0, 0 };

    if (kind != MST_SPENT_CPU)
        calls = ask_calls(q, kind, most->frame);
    if (calls.calls == 0 || q->b.php->requests == 0 ||
        mst_milli(calls.ns, most->times.ns[kind]) < MST_IN_CODE_ALL_MILLI)
        return MST_UNKNOWN;
    return mst_milli(calls.calls, q->b.php->requests);
}

static void note_function(struct mst_inquiry *q, struct mst_finding *f, unsigned kind,
                          const struct mst_code_bill *bill)
{
    const struct mst_code_account *most = mst_code_bill_most(bill, kind);
    struct mst_finding_place *place = &f->place;

    if (most == NULL || most->frame == NULL ||
        mst_milli(most->times.ns[kind], bill->times.ns[kind]) < MST_IN_CODE_MILLI)
        return;
    MST_SAY(place->function, "%s", most->frame->function);
    MST_SAY(place->file, "%s", most->frame->file);
    MST_SAY(place->component, "%s", most->component);
    place->line = most->frame->line;
    place->share_milli = mst_milli(most->times.ns[kind], bill->times.ns[kind]);
    place->calls_milli = calls_milli(q, kind, most);
    if (kind == MST_SPENT_CPU)
        MST_ACTION(f, "Spare that work, or keep its result in a cache%s.",
                   mst_or_opcache(q->b.php));
    say_first(f, place);
}

void mst_note_code(struct mst_inquiry *q, struct mst_finding *f, unsigned kind)
{
    const struct mst_code_bill *functions = NULL, *components = NULL;
    const struct mst_code_account *most;
    uint64_t milli;

    if (mst_code_bills_read(&q->code, q->db, q->b.php->id)) {
        functions = mst_code_bill(&q->code, MST_BILL_BY_FUNCTION);
        components = mst_code_bill(&q->code, MST_BILL_BY_COMPONENT);
    }
    if (functions == NULL || components == NULL) {
        q->failed = true;
        return;
    }
    if (kind == MST_SPENT_CPU && functions->times.samples[kind] < MST_IN_CODE_SAMPLES_MIN)
        return;   /* waits are all counted */
    note_function(q, f, kind, functions);
    most = mst_code_bill_most(components, kind);
    milli = most != NULL ? mst_milli(most->times.ns[kind], components->times.ns[kind]) : 0;
    if (milli >= MST_IN_CODE_MILLI && has_name(most->component))
        say_where(f, kind, most->component, milli);
    else if (f->place.function[0] != '\0')
        say_where(f, kind, f->place.function, f->place.share_milli);
}

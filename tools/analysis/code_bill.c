/* code_bill.c - what PHP's code costs: see code_bill.h. */
#include "analysis/code_bill.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "segment/format.h"

static void add_times(struct mst_code_times *to, const struct mst_code_times *times)
{
    unsigned kind;

    for (kind = 0; kind < MST_SPENT_KINDS; kind++) {
        to->ns[kind] = mst_add_saturated(to->ns[kind], times->ns[kind]);
        to->samples[kind] = mst_add_saturated(to->samples[kind], times->samples[kind]);
    }
}

static int by_component(const void *left, const void *right)
{
    const struct mst_code_account *a = left, *b = right;

    return strcmp(a->component, b->component);
}

static int by_function(const void *left, const void *right)
{
    const struct mst_code_account *a = left, *b = right;
    int order;

    if (a->frame == NULL || b->frame == NULL)
        return (a->frame != NULL) - (b->frame != NULL);
    order = strcmp(a->frame->file, b->frame->file);
    return order != 0 ? order : strcmp(a->frame->function, b->frame->function);
}

static int by_script(const void *left, const void *right)
{
    const struct mst_code_account *a = left, *b = right;

    if (a->frame == NULL || b->frame == NULL)
        return (a->frame != NULL) - (b->frame != NULL);
    return strcmp(a->frame->file, b->frame->file);
}

static int by_total(const void *left, const void *right)
{
    const struct mst_code_account *a = left, *b = right;

    return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

/* Makes one account of those that are the same. The frame is that of the dearest. */
static void merge(struct mst_code_bill *bill, int compare(const void *, const void *))
{
    struct mst_code_account *accounts = bill->accounts, *last = accounts;
    uint64_t dearest = 0;
    size_t i;

    if (bill->count == 0)
        return;
    qsort(accounts, bill->count, sizeof *accounts, compare);
    for (i = 0; i < bill->count; i++) {
        if (i == 0 || compare(last, &accounts[i]) != 0) {
            last = i == 0 ? last : last + 1;
            *last = accounts[i];
            dearest = last->total_ns;
            continue;
        }
        if (accounts[i].total_ns > dearest) {
            dearest = accounts[i].total_ns;
            last->frame = accounts[i].frame;
        }
        add_times(&last->times, &accounts[i].times);
        last->total_ns = mst_add_saturated(last->total_ns, accounts[i].total_ns);
    }
    bill->count = (size_t)(last - accounts) + 1;
}

/* The function in the outermost file of a stack; NULL: none is in a file. */
static const struct mst_php_frame *frame_of_script(const struct mst_php_code *code,
                                                   const struct mst_php_stack *stack)
{
    const struct mst_php_frame *frames[MST_STACK_DEPTH + 1];
    size_t depth = mst_php_code_walk(code, stack, frames, MST_STACK_DEPTH + 1), i = 0;

    while (i < depth && frames[i]->file[0] == '\0')
        i++;
    return i < depth ? frames[i] : NULL;
}

static bool make_bill(struct mst_code_bill *bill, const struct mst_php_code *code,
                      enum mst_bill_by by)
{
    static int (*const same[])(const void *, const void *) = {
        [MST_BILL_BY_COMPONENT] = by_component, [MST_BILL_BY_FUNCTION] = by_function,
        [MST_BILL_BY_SCRIPT] = by_script,
    };
    struct mst_component component;
    size_t i;

    *bill = (struct mst_code_bill){ .accounts = calloc(code->stack_count + 1,
                                                       sizeof *bill->accounts) };
    if (bill->accounts == NULL)
        return false;
    for (i = 0; i < code->stack_count; i++) {
        const struct mst_php_stack *stack = &code->stacks[i];
        struct mst_code_account *account = &bill->accounts[bill->count];

        account->total_ns = mst_code_total_ns(&stack->times);
        if (account->total_ns == 0)
            continue;
        account->times = stack->times;
        account->frame = by == MST_BILL_BY_SCRIPT ? frame_of_script(code, stack)
                                                  : mst_php_code_named(code, stack);
        mst_component_of(&component, account->frame != NULL ? account->frame->file : "");
        memcpy(account->component, component.name, sizeof account->component);
        add_times(&bill->times, &stack->times);
        bill->count++;
    }
    bill->total_ns = mst_code_total_ns(&bill->times);
    if (by == MST_BILL_BY_COMPONENT)
        merge(bill, by_function);   /* so that a component's frame is its dearest function */
    merge(bill, same[by]);
    if (bill->count > 0)
        qsort(bill->accounts, bill->count, sizeof *bill->accounts, by_total);
    return true;
}

bool mst_code_bills_read(struct mst_code_bills *bills, sqlite3 *db, int64_t server_id)
{
    if (bills->server_id == server_id)
        return true;
    mst_code_bills_free(bills);
    if (!mst_php_code_read(&bills->code, db, server_id))
        return false;
    bills->server_id = server_id;
    return true;
}

const struct mst_code_bill *mst_code_bill(struct mst_code_bills *bills, enum mst_bill_by by)
{
    struct mst_code_bill *bill = &bills->by[by];

    return bill->accounts != NULL || make_bill(bill, &bills->code, by) ? bill : NULL;
}

void mst_code_bills_free(struct mst_code_bills *bills)
{
    unsigned i;

    for (i = 0; i < MST_BILLS; i++)
        free(bills->by[i].accounts);
    mst_php_code_free(&bills->code);
    *bills = (struct mst_code_bills){ .server_id = 0 };
}

const struct mst_code_account *mst_code_bill_most(const struct mst_code_bill *bill, unsigned kind)
{
    const struct mst_code_account *most = NULL;
    size_t i;

    for (i = 0; i < bill->count; i++)
        if (bill->accounts[i].times.ns[kind] > (most != NULL ? most->times.ns[kind] : 0))
            most = &bill->accounts[i];
    return most;
}

/* code_place.c - where PHP's code is, as functions and call stacks of the board.
 *
 * The board has names of functions and of files. Functions whose frame this thread has looked for
 * in this request are kept by the address of their code, which is valid so long.
 */
#include "code_place.h"

#include <string.h>

#include "base/clock.h"
#include "state.h"
#include "write/call_stack.h"
#include "write/journal.h"

#define TEXT_MAX 256u

struct text {
    char   bytes[TEXT_MAX];
    size_t length;
};

/* Appends what there is room for. A name can have a NUL: an anonymous class's, before its file. */
static void append(struct text *to, const char *text)
{
    size_t n = strlen(text), room = TEXT_MAX - to->length;

    if (n > room)
        n = room;
    memcpy(to->bytes + to->length, text, n);
    to->length += n;
}

/* "Repository->find", "Repository::all", "strlen", "{main}". */
static void name(struct text *to, const zend_function *f)
{
    to->length = 0;
    if (f->common.function_name && f->common.scope) {
        append(to, ZSTR_VAL(f->common.scope->name));
        append(to, f->common.fn_flags & ZEND_ACC_STATIC ? "::" : "->");
    }
    append(to, f->common.function_name ? ZSTR_VAL(f->common.function_name) : "{main}");
}

static bool is_users(const zend_execute_data *call)
{
    return call->func && ZEND_USER_CODE(call->func->type);
}

/* While an exception is thrown, its frame is at an operation of PHP's own. */
static uint32_t line_of(const zend_execute_data *call)
{
    const zend_op *at = call->opline;

    if (at && at->opcode == ZEND_HANDLE_EXCEPTION && EG(opline_before_exception))
        at = EG(opline_before_exception);
    return at ? at->lineno : call->func->op_array.line_start;
}

static uint32_t intern(const zend_function *f, uint32_t line)
{
    const zend_string *file = ZEND_USER_CODE(f->type) ? f->op_array.filename : NULL;
    struct text function;

    name(&function, f);
    return mst_frame_intern(&mst_php.board, function.bytes, function.length,
                            file ? ZSTR_VAL(file) : "", file ? strlen(ZSTR_VAL(file)) : 0, line);
}

static uint32_t look_up(const zend_function *f, uint32_t line)
{
    const void *code = ZEND_USER_CODE(f->type) ? (const void *)f->op_array.opcodes : f;
    uintptr_t mixed = ((uintptr_t)code >> 4) + line * 31u;
    struct mst_code_place *p = &MPMSTAT_G(functions)[(mixed ^ mixed >> 8) % MPMSTAT_FUNCTIONS];

    if (p->code != code || p->line != line || p->request_ns != MPMSTAT_G(start_ns))
        *p = (struct mst_code_place){ code, MPMSTAT_G(start_ns), line, intern(f, line) };
    return p->frame;
}

uint32_t mst_place_stack(const zend_execute_data *call, const zend_function *called)
{
    uint32_t frames[MST_STACK_DEPTH], depth = 0, stack = MST_STACK_NONE;

    if (called)
        frames[depth++] = look_up(called, 0);
    for (; call && depth < MST_STACK_DEPTH; call = call->prev_execute_data) {
        const zend_function *f = call->func;
        uint32_t line = 0;

        if (!f)
            continue;
        if (is_users(call))
            line = line_of(call);
        frames[depth++] = look_up(f, line);
    }
    if (call)
        stack = mst_call_stack_intern(&mst_php.board, stack, MST_FRAME_OTHER);
    while (depth > 0 && stack != MST_STACK_OTHER)
        stack = mst_call_stack_intern(&mst_php.board, stack, frames[--depth]);
    return stack;
}

uint64_t mst_place_chain(const zend_execute_data *call)
{
    uint64_t chain = 1;
    uint32_t depth;

    for (depth = 0; call && depth < MST_STACK_DEPTH; call = call->prev_execute_data, depth++) {
        const void *at = is_users(call) ? (const void *)call->opline : call->func;

        chain = (chain ^ (uintptr_t)at) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return chain | 1;
}

void mst_place_sample(uint32_t stack, uint32_t what, uint64_t weight_ns)
{
    struct mst_code_sample sample = {
        .time_ns = mst_now_ns(),
        .request_start_ns = MPMSTAT_G(start_ns),
        .pid_worker = mst_php.pid << 32 | MPMSTAT_G(worker_index),
        .stack_what = (uint64_t)stack << 32 | what,
        .weight_ns = weight_ns,
    };

    mst_journal_code_sample(&mst_php.board, &sample);
}

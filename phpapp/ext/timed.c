/* timed.c - has the functions of waits.def timed.
 *
 * After all extensions have started, the handlers of these functions and methods are replaced by
 * those of waits.c. What they need to know of a function is in the function's reserved slot, which
 * copies of the function share (methods that a subclass inherits, closures).
 */
#include "timed.h"

#include <stdlib.h>
#include <string.h>

#include "board_place.h"
#include "compat.h"
#include "end_functions.h"
#include "state.h"
#include "waits.h"

static bool is_replaced(const zend_internal_function *f)
{
    return f->handler == mst_call_timed || f->handler == mst_call_noted;
}

static enum mst_told_by told_by(const struct mst_wait_line *line)
{
    if (line->end == mst_end_subject || line->end == mst_end_made)
        return MST_TOLD_BY_SUBJECT;
    return line->end == mst_end_fixed ? MST_TOLD_BY_LINE : MST_TOLD_BY_RESULT;
}

/* Whether a call's end has to be looked at: it tells the other end, or that of what it made. */
static bool is_to_end(const struct mst_wait_line *line)
{
    return line->end != mst_end_subject && line->end != mst_end_fixed;
}

/* A statement is made for the end that its connection is to, and takes no new connection. fopen()
 * of a URL waits for the answer, too; socket_accept() waits for a client. */
static bool is_connecting(const struct mst_wait_line *line)
{
    return line->treatment == MST_IS_CONNECT && line->end != mst_end_made
        && line->end != mst_end_made_of && line->end != mst_end_new
        && line->own.kind != MST_WAIT_FILE && line->own.kind != MST_WAIT_PROCESS;
}

static uint64_t connecting_all(zend_execute_data *call, uint64_t waited_ns)
{
    (void)call;
    return waited_ns;
}

/* What tells how long a call connected. */
static mst_connecting_of_call *connecting_of(const struct mst_wait_line *line)
{
    if (line->treatment == MST_IS_CURL)
        return mst_connecting_of_curl;
    return is_connecting(line) ? connecting_all : NULL;
}

static void replace(zend_function *f, struct mst_wait_line *line)
{
    struct mst_timed_function *timed;

    if (f->type != ZEND_INTERNAL_FUNCTION || is_replaced(&f->internal_function)
        || (timed = malloc(sizeof *timed)) == NULL)
        return;
    *timed = (struct mst_timed_function){ f->internal_function.handler, line, told_by(line),
                                          is_to_end(line) ? line->end : NULL,
                                          connecting_of(line), mst_timed_all };
    mst_timed_all = timed;
    f->internal_function.reserved[mst_timed_slot] = timed;
    f->internal_function.handler = line->treatment == MST_IS_NOTE ? mst_call_noted : mst_call_timed;
}

/* Replaces the line's function or method; of "*" all methods. */
static void replace_methods(HashTable *methods, struct mst_wait_line *line)
{
    const char *name = line->function;
    zend_function *f;

    if (*name == '*') {
        ZEND_HASH_FOREACH_PTR(methods, f) {
            replace(f, line);
        } ZEND_HASH_FOREACH_END();
    } else if ((f = zend_hash_str_find_ptr(methods, name, strlen(name))) != NULL) {
        replace(f, line);
    }
}

/* The subclasses of an extension have copies of the methods, too. */
static void replace_in_classes(struct mst_wait_line *line)
{
    const char *name = line->class_name;
    zend_class_entry *base = zend_hash_str_find_ptr(CG(class_table), name, strlen(name)), *class;

    if (!base)
        return;
    ZEND_HASH_FOREACH_PTR(CG(class_table), class) {
        if (class->type == ZEND_INTERNAL_CLASS && instanceof_function(class, base))
            replace_methods(&class->function_table, line);
    } ZEND_HASH_FOREACH_END();
}

/* Each thread has copies of all functions. Machine code that the JIT made in one thread calls
 * functions by that thread's copies, even after the thread has ended (PHP 8.2): then it cannot be
 * told which function is timed. It is enough that the JIT has a buffer and is not disabled: it can
 * be turned on later. */
static bool is_unsafe(void)
{
    const char *jit = mst_ini_text("opcache.jit");

    return mst_board_place_threads() > 1 && mst_ini_number("opcache.jit_buffer_size") > 0
        && !(jit && strcmp(jit, "disable") == 0);
}

static bool is_refused;

const char *mst_waits_why_not(void)
{
    return is_refused ? "not measured: the JIT of a PHP with threads has a buffer" : NULL;
}

static mst_startup_result (*next_post_startup)(void);

static mst_startup_result replace_all(void)
{
    struct mst_wait_line *line;

    is_refused = is_unsafe();
    for (line = mst_wait_lines; line < mst_wait_lines + mst_wait_line_count && !is_refused; line++)
        if (*line->class_name)
            replace_in_classes(line);
        else
            replace_methods(CG(function_table), line);
    return next_post_startup ? next_post_startup() : SUCCESS;
}

void mst_waits_install(void)
{
    if (!MPMSTAT_G(measure_waits) || (mst_timed_slot = mst_reserve_slot()) < 0)
        return;
    next_post_startup = zend_post_startup_cb;
    zend_post_startup_cb = replace_all;
#ifdef MST_HAS_FIBERS
    zend_observer_fiber_switch_register(mst_fiber_switched);
#endif
}

void mst_waits_uninstall(void)
{
    struct mst_timed_function *timed;

    while ((timed = mst_timed_all) != NULL) {
        mst_timed_all = timed->next;
        free(timed);
    }
}

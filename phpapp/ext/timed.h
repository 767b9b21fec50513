/* timed.h - the functions of waits.def, whose handlers timed.c replaces by those of waits.c. */
#ifndef MPMSTAT_PHP_TIMED_H
#define MPMSTAT_PHP_TIMED_H

#include <php.h>

#include "compat.h"
#include "ends.h"

/* What tells, as a call begins, which other end it waits for. */
enum mst_told_by {
    MST_TOLD_BY_RESULT,    /* only its arguments and result, as it ends */
    MST_TOLD_BY_LINE,      /* always the own end */
    MST_TOLD_BY_SUBJECT    /* what is noted for the subject */
};

/* A function whose handler is replaced. */
struct mst_timed_function {
    zif_handler                original;
    struct mst_wait_line      *line;
    enum mst_told_by           told_by;
    mst_wait_of_call          *end;    /* to be called as a call ends; NULL: no need */
    mst_connecting_of_call    *connecting; /* NULL: it does not connect */
    struct mst_timed_function *next;
};

/* ---- waits.c ----------------------------------------------------------------------------- */

/* timed.c sets these two.
 *
 * Of zend_internal_function.reserved, where a function has its struct mst_timed_function; -1: none
 * is free. */
extern int mst_timed_slot;
extern struct mst_timed_function *mst_timed_all;   /* NULL: no function is timed */

/* The handlers: one measures the call, the other only notes what was made for whom. */
ZEND_NAMED_FUNCTION(mst_call_timed);
ZEND_NAMED_FUNCTION(mst_call_noted);

#ifdef MST_HAS_FIBERS
/* A fiber's wait stops while the fiber does not run. */
void mst_fiber_switched(zend_fiber_context *from, zend_fiber_context *to);
#endif

#endif

/* ends.h - what a timed function waits for: kind and other end. */
#ifndef MPMSTAT_PHP_ENDS_H
#define MPMSTAT_PHP_ENDS_H

#include <php.h>
#include <stdbool.h>
#include <stdint.h>

#include "end_name.h"

/* How the extension treats a function of waits.def. */
enum mst_treatment {
    MST_IS_CALL,      /* it is timed */
    MST_IS_CONNECT,   /* the same, and what it connects to is remembered, also where it is called
                       * within another timed call */
    MST_IS_CURL,      /* it is timed, and cURL is asked what connecting had of that */
    MST_IS_NOTE       /* it does not wait; what it says of the other end is remembered */
};

/* Whether a call can wait, and what for, as far as the call tells that itself: the line's own end,
 * or another one. NULL: it cannot wait. */
typedef struct mst_own_end *mst_can_wait(struct mst_own_end *own, zend_execute_data *call);
/* What a call waited for; to be called after the function. `own`: as the above returned it. */
typedef uint64_t mst_wait_of_call(struct mst_own_end *own, zend_execute_data *call, zval *result);
/* How much of the waited time the call connected, the look-up of a name included. call NULL: it did
 * not return, or a fatal error ended it. */
typedef uint64_t mst_connecting_of_call(zend_execute_data *call, uint64_t waited_ns);
typedef bool mst_has_failed(const zend_execute_data *call, const zval *result);

/* A line of waits.def. */
struct mst_wait_line {
    const char  *class_name;   /* "": a function */
    const char  *function;     /* "*": all methods of the class */
    struct mst_own_end own;    /* where nothing more is known of the other end */
    mst_can_wait *can_wait;    /* NULL: a call can always wait */
    mst_wait_of_call *end;
    mst_has_failed *has_failed;   /* whether a call's result says so; NULL: never. An exception
                                   * always does */
    enum mst_treatment treatment;
};
extern struct mst_wait_line mst_wait_lines[];
extern const uint32_t mst_wait_line_count;

/* The process joins a board: indices of other ends on another one are not valid any more. */
void mst_ends_join(void);

#endif

/* ends.h - what a timed function waits for: kind and other end. */
#ifndef MPMSTAT_PHP_ENDS_H
#define MPMSTAT_PHP_ENDS_H

#include <php.h>
#include <stdbool.h>
#include <stdint.h>

#include "end_name.h"

/* How a return value says that a call has failed. An exception always says so. */
enum mst_failure_rule {
    MST_FAILS_NONE, MST_FAILS_FALSE, MST_FAILS_NEGATIVE, MST_FAILS_SAME   /* its own argument */
};

/* How the extension treats a function of waits.def. */
enum mst_treatment {
    MST_IS_CALL,      /* it is timed */
    MST_IS_CONNECT,   /* the same, and what it connects to is remembered, also where it is called
                       * within another timed call */
    MST_IS_NOTE       /* it does not wait; what it says of the other end is remembered */
};

struct mst_wait_line;
typedef bool mst_can_wait(zend_execute_data *call);
typedef uint64_t mst_wait_of_call(struct mst_wait_line *line, zend_execute_data *call,
                                  zval *result);

/* A line of waits.def. */
struct mst_wait_line {
    const char  *class_name;   /* "": a function */
    const char  *function;     /* "*": all methods of the class */
    struct mst_own_end own;    /* where nothing more is known of the other end */
    mst_can_wait *can_wait;    /* whether a call can wait; NULL: always */
    mst_wait_of_call *end;     /* what a call waited for; to be called after the function */
    enum mst_failure_rule failure;
    enum mst_treatment treatment;
};
extern struct mst_wait_line mst_wait_lines[];
extern const uint32_t mst_wait_line_count;

/* The process joins a board: indices of other ends on another one are not valid any more. */
void mst_ends_join(void);

#endif

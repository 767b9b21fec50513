/* ends.h - what a timed function waits for: kind and other end. */
#ifndef MPMSTAT_PHP_ENDS_H
#define MPMSTAT_PHP_ENDS_H

#include <php.h>
#include <stdbool.h>
#include <stdint.h>

/* How a return value says that a call has failed. An exception always says so. */
enum mst_failure {
    MST_FAILS_NONE, MST_FAILS_FALSE, MST_FAILS_NEGATIVE, MST_FAILS_SAME   /* its own argument */
};

/* How the extension treats a function of waits.def. */
enum mst_treatment {
    MST_IS_CALL,      /* it is timed */
    MST_IS_CONNECT,   /* the same, and what it connects to is remembered, also where it is called
                       * within another timed call */
    MST_IS_NOTE       /* it does not wait; what it says of the other end is remembered */
};

/* A line of waits.def. */
struct mst_wait_line {
    const char  *class_name;   /* "": a function */
    const char  *function;     /* "*": all methods of the class */
    uint32_t     kind;         /* enum mst_wait */
    const char  *name;         /* of the other end, where nothing more is known */
    /* Whether this call can wait; NULL: always. */
    bool       (*can_wait)(zend_execute_data *execute_data);
    /* What it waited for; called after the function. */
    uint64_t   (*end)(uint32_t line, zend_execute_data *execute_data, zval *result);
    enum mst_failure   failure;
    enum mst_treatment treatment;
};
extern const struct mst_wait_line mst_wait_lines[];
extern const uint32_t mst_wait_line_count;

/* A wait: enum mst_wait << 32 | index of the other end. */
static inline uint64_t mst_wait_of(uint32_t kind, uint32_t end)
{
    return (uint64_t)kind << 32 | end;
}

/* The wait as the line says it, without looking at the call. */
uint64_t mst_end_default(uint32_t line);

/* The process has another board than before: indices of other ends are not valid any more. */
void mst_ends_forget(void);
/* The request is over: so are the objects whose other ends are remembered. */
void mst_ends_forget_things(void);

#endif

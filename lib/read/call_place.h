/* call_place.h - the one function of a call stack that is named: of the application's own code.
 *
 * That is the innermost function in a file that is not of code that applications are built on
 * (component.h). Where there is none, or only the request's script that called such code, it is the
 * innermost function in a file.
 */
#ifndef MPMSTAT_CALL_PLACE_H
#define MPMSTAT_CALL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "read/component.h"
#include "segment/reader.h"

/* Chooses among the functions of a stack, which come from the innermost one on. It begins as
 * { 0 }. */
struct mst_call_choice {
    bool     has_own, has_any, has_base;
    uint64_t own, any, outermost;       /* which function, by the caller's number */
};

/* The next function is in `file` ("": PHP's own). */
void mst_call_choose(struct mst_call_choice *choice, uint64_t function, const char *file);
/* Sets the function that is named. False: none is in a file. */
bool mst_call_chosen(const struct mst_call_choice *choice, uint64_t *function);

/* A function of PHP's code that is named. */
struct mst_code_at {
    char     function[MST_FRAME_FUNCTION_MAX], file[MST_FRAME_FILE_MAX];
    char     component[MST_COMPONENT_MAX];
    uint64_t line;                      /* 0: not known */
};

/* Of a board's stack. Sets the frame's index, and the frame, whose texts end with a NUL. False: it
 * is not known. */
bool mst_call_place(const struct mst_reader *r, uint64_t stack, uint64_t *index,
                    struct mst_frame *frame);

#endif

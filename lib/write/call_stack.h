/* call_stack.h - the tables of PHP's functions and of call stacks: for the extension. No lock, no
 * wait, no system call; a process that is killed midway leaves an entry that no one finds.
 */
#ifndef MPMSTAT_CALL_STACK_H
#define MPMSTAT_CALL_STACK_H

#include "write/board.h"

/* Prepares the tables of a new board. */
void mst_call_stack_begin(struct mst_board *b);

/* The index of a function in the table, which it is added to where it is new; MST_FRAME_OTHER where
 * there is no room. The texts need no NUL; bytes that are not printable become '?'. */
uint32_t mst_frame_intern(struct mst_board *b, const char *function, size_t function_length,
                          const char *file, size_t file_length, uint32_t line);

/* The index of the stack in which `frame` was called by the stack `caller` (MST_STACK_NONE: by
 * none); MST_STACK_OTHER where there is no room. */
uint32_t mst_call_stack_intern(struct mst_board *b, uint32_t caller, uint32_t frame);

#endif

/* php_code.h - PHP's code that a server was sampled in: its functions, its call stacks, and how
 * much CPU time and waiting each stack has. */
#ifndef MPMSTAT_PHP_CODE_H
#define MPMSTAT_PHP_CODE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/terms.h"

/* What samples are of: CPU time, or by enum mst_wait, plus 1. */
#define MST_SPENT_CPU   0u
#define MST_SPENT_KINDS (1u + MST_WAIT_COUNT)

struct mst_code_times { uint64_t ns[MST_SPENT_KINDS], samples[MST_SPENT_KINDS]; };

/* All waiting; that and CPU time. */
uint64_t mst_code_waiting_ns(const struct mst_code_times *times);
uint64_t mst_code_total_ns(const struct mst_code_times *times);

/* Texts are not NULL; file is "" where the function is PHP's own, line 0 where it is not known. */
struct mst_php_frame { uint64_t id, line; char *function, *file; };

/* One stack of a server, with all samples that were taken in it. */
struct mst_php_stack { uint64_t id, caller, frame; struct mst_code_times times; };

struct mst_php_code {
    struct mst_php_frame *frames;    /* by id; each once */
    struct mst_php_stack *stacks;    /* as frames */
    size_t frame_count, stack_count, frame_room, stack_room;
};

/* "cpu", or the name of a wait. */
const char *mst_code_kind_name(unsigned kind);

/* Reads the code of a server from an archive of any version; without samples there is none. False:
 * the archive cannot be read, or memory ran out; *code is to be freed in any case. */
bool mst_php_code_read(struct mst_php_code *code, sqlite3 *db, int64_t server_id);
void mst_php_code_free(struct mst_php_code *code);

/* The functions of a stack, the outermost first: at most `room`, of a deeper one the innermost.
 * Returns their number. What is missing in the archive ends the way outwards. */
size_t mst_php_code_walk(const struct mst_php_code *code, const struct mst_php_stack *stack,
                         const struct mst_php_frame **frames, size_t room);

/* Of a stack's functions the one that is named (read/call_place.h); NULL: none is in a file. */
const struct mst_php_frame *mst_php_code_named(const struct mst_php_code *code,
                                               const struct mst_php_stack *stack);
/* The same of a stack's id. */
const struct mst_php_frame *mst_php_code_named_of(const struct mst_php_code *code, uint64_t stack);

#endif

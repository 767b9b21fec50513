/* php_code.h - the functions of PHP's code that a server was sampled in, and its call stacks. */
#ifndef MPMSTAT_PHP_CODE_H
#define MPMSTAT_PHP_CODE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/pool.h"

/* Texts are not NULL; file is "" where the function is PHP's own, line 0 where it is not known. */
struct mst_php_frame { uint64_t id, line; const char *function, *file; };

/* One stack of a server, with all its samples. */
struct mst_php_stack { uint64_t id, caller, frame, cpu_ns; };

struct mst_php_code {
    struct mst_php_frame *frames;    /* by id; each once */
    struct mst_php_stack *stacks;    /* as frames */
    size_t frame_count, stack_count;
};

/* Reads the code of a server from an archive of any version; without samples there is none. The
 * texts are the pool's. False: the archive cannot be read. */
bool mst_php_code_read(struct mst_php_code *code, apr_pool_t *pool, sqlite3 *db, int64_t server_id);

/* The functions of a stack, the outermost first: at most `room`, of a deeper one the innermost.
 * Returns their number. What is missing in the archive ends the way outwards. */
size_t mst_php_code_walk(const struct mst_php_code *code, const struct mst_php_stack *stack,
                         const struct mst_php_frame **frames, size_t room);

#endif

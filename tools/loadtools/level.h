/* level.h - a load tool's command with the load left open: so many clients, or so many requests a
 * second, for mpmstat capacity.
 *
 * The open places of a command are {clients} or {rate}, and {seconds}. An adapter that knows the
 * flags for these sets them itself, in place of those that the command has.
 */
#ifndef MPMSTAT_LOADTOOLS_LEVEL_H
#define MPMSTAT_LOADTOOLS_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct mst_level_command {
    char   **words;        /* NULL at their end */
    char    *set;          /* the flags that the adapter sets: "-c, -d"; NULL: none */
    bool     by_rate;      /* {rate} is open, and not {clients} */
    uint64_t threads;      /* of {threads} */
    uint64_t most;         /* clients that the load tool can have; MST_UNKNOWN: no limit */
};

/* Opens the command argv. 0, or -1 with a sentence, which says what is missing. Free with
 * mst_level_command_free() in either case. */
int  mst_level_command_make(struct mst_level_command *command, char *const *argv,
                            char error[MST_ERROR_MAX]);
void mst_level_command_free(struct mst_level_command *command);

/* The command with this load: NULL at its end, on the heap (mst_strings_free_items()). NULL: out of
 * memory. */
char **mst_level_words(const struct mst_level_command *command, uint64_t level, uint64_t seconds);

/* Whether these words, as a recording has them with the flags that it added, are the command with
 * this load. */
bool mst_level_was(const struct mst_level_command *command, uint64_t level, uint64_t seconds,
                   char *const *words);

#endif

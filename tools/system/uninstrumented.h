/* uninstrumented.h - the Apache and PHP-FPM that run on this machine without mpmstat.
 *
 * That the module or the extension is not loaded is the likeliest reason why a board is missing: it
 * is seen in the mappings of the server's processes, which root may read.
 */
#ifndef MPMSTAT_UNINSTRUMENTED_H
#define MPMSTAT_UNINSTRUMENTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which servers are asked about. PHP: FPM's, and Apache's with mod_php. */
enum { MST_ASK_APACHE = 1, MST_ASK_PHP = 2 };

/* Writes a sentence for each such server: what is not loaded, and the command that loads it; or
 * where its board is, if it has one. Servers of other containers are left out. Returns false, and
 * "", where there is nothing to say. */
bool mst_uninstrumented_say(unsigned ask, char *text, size_t size);

/* The same for what took the place of a server whose first process had this pid, and which ended at
 * this wall-clock time: a server whose first process has the same pid, or began later. Says nothing
 * of a server that has a board. */
bool mst_uninstrumented_instead(unsigned ask, uint64_t pid, uint64_t since_ns, char *text,
                                size_t size);

#endif

/* ownership.h - whose a process is: of the recorded servers, of the load tool, the recorder itself,
 * or another program's.
 *
 * A program's name proves nothing. A process belongs to a server
 *   - as a descendant of the server's parent process;
 *   - if its parent has ended (init or a subreaper has it): in the server's control groups, where
 *     these are neither the recorder's nor those of the process that started the server, and not
 *     older than the server;
 *   - as one that listens where the server's backends are (an FPM without a board), or as a
 *     descendant of one.
 */
#ifndef MPMSTAT_OWNERSHIP_H
#define MPMSTAT_OWNERSHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/proc.h"

/* Names: mst_proc_owner_names. UNSEEN is what no process of /proc took. */
#define MST_PROC_OWNERS(X) \
    X(OTHER, "other") X(SERVER, "server") X(TOOL, "tool") X(RECORDER, "recorder") \
    X(UNSEEN, "unseen")
#define MST_X_PROC_OWNER(id, name) MST_PROC_##id,
enum mst_proc_owner { MST_PROC_OWNERS(MST_X_PROC_OWNER) MST_PROC_OWNER_COUNT };
extern const char *const mst_proc_owner_names[MST_PROC_OWNER_COUNT];

/* A process that is known to be a server's or the load tool's, and all below it. start_ticks tells
 * it from a later process of the same pid; 0: any. */
struct mst_proc_root {
    uint64_t            pid, start_ticks;
    enum mst_proc_owner owner;
};

/* Sets `owner` of each process of a list that was just scanned. Of several roots above a process
 * the nearest counts. This process is RECORDER; what is below it is OTHER without another root. */
void mst_ownership_find(struct mst_proc_list *list, const struct mst_proc_root *roots,
                        size_t count);

/* The inode of the socket that listens, on this machine, at a backend as mod_proxy names it:
 * "fcgi://127.0.0.1:9000", "unix:/run/php/fpm.sock|fcgi://localhost" (as boards have it: cut to
 * MST_NAME_MAX). `near`: the process whose network namespace it is. 0: none. */
uint64_t mst_backend_socket(uint64_t near, const char *backend);
/* Then the processes that have one of these sockets, and all below them, are the server's. Those
 * with another owner keep it. */
void mst_ownership_find_backends(struct mst_proc_list *list, const uint64_t *sockets, size_t count);

/* For tests: the inode of the listening socket in the text of /proc/PID/net/tcp or tcp6, of
 * /proc/PID/net/unix. 0: none. is_cut: the path may go on. */
uint64_t mst_listening_tcp(const char *table, unsigned port);
uint64_t mst_listening_unix(const char *table, const char *path, bool is_cut);

#endif

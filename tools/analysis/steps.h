/* steps.h - the steps of which mst_summary_make() consists, in this order.
 *
 * Each takes what those before it have put into the summary. The steps return false where
 * SQLite fails or memory runs out.
 */
#ifndef MPMSTAT_STEPS_H
#define MPMSTAT_STEPS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"

/* read.c: what the archive says of the run and of each of its servers. 1; 0: there is no such
 * run; -1: SQLite failed, or memory ran out. */
int mst_summary_read(struct mst_summary *s, sqlite3 *db, int64_t run_id);

/* read_servers.c: the same of its servers, for read.c. */
bool mst_summary_read_servers(struct mst_summary *s, sqlite3 *db);

/* only_apache.c: which of several Apaches each PHP works for, for read_servers.c. */
bool mst_summary_find_only_apaches(struct mst_summary *s, sqlite3 *db);

/* read_requests.c: a server's requests, with PHP's requests joined to an Apache's, for
 * read_servers.c: the identities of all servers are known. */
bool mst_summary_read_requests(struct mst_summary *s, struct mst_summary_server *server,
                               sqlite3 *db);

/* account.c: how long they took, and where the time went, for read_servers.c. */
bool mst_summary_account(struct mst_summary_server *server);

/* read_ends.c: calls of other ends, for read_servers.c. */
bool mst_summary_read_ends(struct mst_summary_server *server, sqlite3 *db);

/* read_php_cgi.c: how php-cgi gets its processes, for read_servers.c: all servers were read. */
bool mst_summary_read_php_cgi(struct mst_summary *s, sqlite3 *db);
/* The same file, for read.c: CPU time that no process of /proc took is the server's where it starts
 * a process for each request. All programs were read. */
bool mst_summary_own_unseen(struct mst_summary *s);

/* read_resources.c: limits and what was used of them, for read_servers.c and read.c. */
bool mst_summary_read_resources(struct mst_summary_server *server, sqlite3 *db,
                                const struct mst_summary *run);
bool mst_summary_read_ports(struct mst_summary *s, sqlite3 *db);

/* read_at_once.c: how many of a server's requests there were at once, for read_servers.c. */
bool mst_summary_read_at_once(struct mst_summary_server *server, sqlite3 *db,
                              const struct mst_summary *run);

/* by_name.c: the pages of the Apaches that record paths. */
bool mst_summary_read_pages(struct mst_summary *s);

/* join_client.c: joins the client's requests to the servers'. */
bool mst_summary_join_client(struct mst_summary *s, sqlite3 *db);

/* checks.c: whether to believe the numbers. */
void mst_summary_check(struct mst_summary *s);
/* steadiness.c: whether the load's halves are alike, and where its warm-up ended. */
void mst_summary_check_steady(struct mst_check *check, const struct mst_summary *s);

/* read_generators.c: the load's generators, for read.c. */
bool mst_summary_read_generators(struct mst_summary *s, sqlite3 *db);

#endif

/* servers.h - the running servers of a stack: start, ready, page check, stop.
 *
 * Servers run in the foreground as children of a supervisor process (supervisor.h), which stops
 * and removes everything when told to, and when this process is gone. Everything of
 * them is in one private directory (ROOT); nothing of the system is changed.
 *
 * Variables of every section, besides parameters: ROOT; NAME, the server's own directory
 * below it; INCLUDE, NAME's copies of what is in stacks/include; PORT (what is loaded, on
 * 127.0.0.1; can be given as a parameter), PORT_2 to PORT_4; MODULES, MPMSTAT_MODULE,
 * MPMSTAT_EXTENSION; PHP_VERSION, PHP_INI (ROOT/php.ini); DOCROOT; USER and GROUP;
 * TENANT_A, TENANT_B (with tenants = yes); BOARDS; WORKLOADS (a copy below ROOT); DATA
 * (the data directory, with real/). Setup and teardown have them in their environment too.
 * Servers have PHPRC=ROOT and PHP_INI_SCAN_DIR=ROOT/php.d in theirs, so that every SAPI of
 * PHP reads ROOT/php.ini, what a stack puts into php.d, and nothing else: what hides the
 * environment from PHP (CGI, suexec) has to hand these two on.
 */
#ifndef MPMSTAT_LAB_SERVERS_H
#define MPMSTAT_LAB_SERVERS_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lab/files/expand.h"
#include "lab/files/stack.h"

struct mst_servers;

struct mst_servers_options {
    const struct mst_parameters *parameters;    /* NULL: none given */
    const volatile sig_atomic_t *stop;         /* raised: the start gives up; NULL: never */
};

/* Why something failed: a sentence, and the last lines of the servers' logs where they
 * have to do with it (NULL: none). */
struct mst_servers_failure {
    char  sentence[MST_ERROR_MAX];
    char *log;
};

/* The Debian packages that these stacks and workloads need (NULL at their end) and that
 * are not installed, as one sentence with one command. 0: none is missing; 1: error is that
 * sentence; -1: error says why it cannot be told. */
int mst_servers_missing(apr_pool_t *pool, const struct mst_stack *const *stacks,
                        const struct mst_workload *const *workloads, char error[MST_ERROR_MAX]);

/* Removes what killed runners have left behind; starts the servers and waits until the workload's
 * page is right. NULL and *failure, whose log is in the pool: nothing of it is left. The servers
 * have a pool of their own. */
struct mst_servers *mst_servers_start(apr_pool_t *pool, const struct mst_stack *stack,
                                      const struct mst_workload *workload,
                                      const struct mst_servers_options *options,
                                      struct mst_servers_failure *failure);

/* Writes every file as it would be for a start. 0, or -1 with a sentence. */
int mst_servers_dry_run(apr_pool_t *pool, const struct mst_stack *stack,
                        const struct mst_workload *workload,
                        const struct mst_servers_options *options, FILE *out,
                        char error[MST_ERROR_MAX]);

const char *mst_servers_url(const struct mst_servers *servers);          /* of the page */
const char *mst_servers_status_url(const struct mst_servers *servers);   /* "": has none */
/* Where their boards are: a target of mst_record(). */
const char *mst_servers_board_directory(const struct mst_servers *servers);

struct mst_server {
    const char *name, *kind;      /* kind: apache, fpm, nginx */
    const char *directory;        /* its own: configuration, logs */
    pid_t       pid;
};
size_t mst_servers_count(const struct mst_servers *servers);
const struct mst_server *mst_servers_item(const struct mst_servers *servers, size_t i);

/* Gets the page once: it has status 200, and the text that is expected. *bytes (NULL:
 * not wanted) of its body. 0, or -1 with a sentence. */
int mst_servers_check_page(const struct mst_servers *servers, uint64_t *bytes,
                           char error[MST_ERROR_MAX]);

/* Whether all of them still run. 0, or -1 with a sentence: which has ended, and how. */
int mst_servers_alive(struct mst_servers *servers, char error[MST_ERROR_MAX]);
/* Becomes readable when a server ends, or the supervisor; for poll(). Then ask alive. */
int mst_servers_fd(const struct mst_servers *servers);

/* The last lines of each server's logs; NULL: there are none. */
char *mst_servers_log(apr_pool_t *pool, const struct mst_servers *servers, unsigned lines);

/* Stops them in reverse order, tears down, removes their directory, frees. 0, or -1 with
 * a sentence: what did not end by itself, or could not be removed. NULL is fine. */
int mst_servers_stop(struct mst_servers *servers, char error[MST_ERROR_MAX]);

#endif

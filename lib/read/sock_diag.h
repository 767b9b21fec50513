/* sock_diag.h - asks the kernel for the sockets of this network namespace (NETLINK_SOCK_DIAG). */
#ifndef MPMSTAT_SOCK_DIAG_H
#define MPMSTAT_SOCK_DIAG_H

#include <stdbool.h>
#include <stddef.h>

/* A netlink socket, which the caller closes; it waits for at most a second. -1: there is none. */
int mst_sock_diag_open(void);

/* Takes the kernel's answer about one socket. False: it is not complete, or there is no memory. */
typedef bool mst_sock_diag_take(void *context, const char *bytes, size_t length);

/* Sends the request, which is that of a family of sockets (struct inet_diag_req_v2, ...), and calls
 * `take` for each socket of the answer. False: the answer is not complete. */
bool mst_sock_diag_read(int netlink, const void *request, size_t bytes, mst_sock_diag_take *take,
                        void *context);

#endif

/* tcp_info.h - what the kernel says of a client's connection. A system call. */
#ifndef MPMSTAT_TCP_INFO_H
#define MPMSTAT_TCP_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct mst_tcp_info {
    uint64_t received_ns;      /* the age of the newest data from the client */
    uint64_t opened_ns;        /* the age of a connection on which the server has sent nothing */
    uint64_t segments;         /* with data from the client, so far */
    uint64_t busy_ns;          /* data was on its way to the client, so far; */
    uint64_t client_slow_ns;   /* of that: the client's window was closed */
};

/* False: the kernel does not say; it is not a TCP connection, or is closed. */
bool mst_tcp_info(int fd, struct mst_tcp_info *info);

/* Sets *bytes to those that were sent and that the client has not acknowledged. */
bool mst_tcp_unacknowledged(int fd, uint64_t *bytes);

#endif

/* ports.h - local TCP ports in use, by the address that they are connected to.
 *
 * A connection to one address needs a local port that no other connection to that address has, and
 * a closed one keeps it for a minute. So the ports in use towards one address are what can run out:
 * towards a backend, or from a load tool to the server.
 */
#ifndef MPMSTAT_PORTS_H
#define MPMSTAT_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_PORTS_REMOTES 8u   /* addresses that are told: those with the most ports */

struct mst_ports {
    uint64_t limit;            /* ports of net.ipv4.ip_local_port_range */
    size_t   count;
    struct { char address[64]; uint64_t ports; } remotes[MST_PORTS_REMOTES];   /* most first */
};

/* Of this network namespace. False: the kernel does not tell, or out of memory. */
bool mst_ports_read(struct mst_ports *ports);

#endif

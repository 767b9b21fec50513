/* address.h - where mpmstat serve listens: ADDRESS:PORT, [ADDRESS]:PORT or PORT. */
#ifndef MPMSTAT_SERVE_ADDRESS_H
#define MPMSTAT_SERVE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

/* Prometheus's list of default ports (9100 to 9999) is full; this one is not a service of IANA's,
 * and below the ports that Linux gives to connections. */
#define MST_SERVE_PORT "19117"

#define MST_SERVE_ADDRESSES 8u    /* at most, in all */

struct mst_serve_address {
    union {
        struct sockaddr     any;
        struct sockaddr_in  v4;
        struct sockaddr_in6 v6;
    } socket;
    socklen_t length;
    bool      is_loopback;
    bool      is_optional;   /* the user did not name it: the machine may lack it */
    char      text[64];      /* as in a URL, with the port */
};

struct mst_serve_addresses {
    unsigned                 count;
    struct mst_serve_address items[MST_SERVE_ADDRESSES];
};

/* Adds what `text` means: an address, or for a port alone both of loopback. Returns 0, or -1 with
 * a sentence. */
int mst_serve_address_add(struct mst_serve_addresses *all, const char *text,
                          char error[MST_ERROR_MAX]);

/* A socket that listens there, not inherited and not blocking; -1 with a sentence. An optional
 * address that the machine does not have is -1 with error "". */
int mst_serve_address_open(const struct mst_serve_address *address, char error[MST_ERROR_MAX]);

/* Whether a request's header Host names this machine's loopback. A page of another site cannot
 * make a browser send such a name, whatever its own name resolves to (DNS rebinding). */
bool mst_serve_host_is_loopback(const char *host);

#endif

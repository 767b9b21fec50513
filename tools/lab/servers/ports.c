/* ports.c - loopback ports for a stack's servers: see ports.h. */
#include "lab/servers/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket that keeps a loopback port ours: bound, never listening, so that a server with
 * SO_REUSEADDR can listen there and no other program gets it. wanted 0: any. */
static int hold_port(unsigned wanted, unsigned *port, char error[MST_ERROR_MAX])
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)wanted),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    if (errno == EADDRINUSE)
        mst_fail(error, "port %u of 127.0.0.1 is taken by another program (ss -ltnp tells which): "
                 "choose another, or none", wanted);
    else
        mst_fail(error, "cannot have port %u of 127.0.0.1: %s", wanted, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

void mst_ports_release(const int held[MST_PORTS])
{
    int i;

    for (i = 0; i < MST_PORTS; i++)
        if (held[i] >= 0)
            close(held[i]);
}

int mst_ports_hold(const struct mst_parameters *given, int held[MST_PORTS],
                          unsigned ports[MST_PORTS], char error[MST_ERROR_MAX])
{
    const char *value;
    unsigned long wanted;
    char *end;
    int i;

    for (i = 0; i < MST_PORTS; i++)
        held[i] = -1;
    for (i = 0; i < MST_PORTS; i++) {
        value = given != NULL ? mst_parameters_get(given, mst_site_port_names[i]) : NULL;
        wanted = value != NULL ? strtoul(value, &end, 10) : 0;
        if (value != NULL && (*value < '0' || *value > '9' || *end != '\0' || wanted == 0 ||
                              wanted > 65535))
            mst_fail(error, "expected %s=NUMBER with a number from 1 to 65535, found \"%.60s\"",
                     mst_site_port_names[i], value);
        else
            held[i] = hold_port((unsigned)wanted, &ports[i], error);
        if (held[i] < 0) {
            mst_ports_release(held);
            return -1;
        }
    }
    return 0;
}

/* sock_diag.c - asks the kernel for sockets: see sock_diag.h. */
#include "read/sock_diag.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define DATAGRAM_MAX 32768u   /* the kernel makes them as large as the buffer, from 8 KiB on */

int mst_sock_diag_open(void)
{
    const struct timeval patience = { .tv_sec = 1, .tv_usec = 0 };
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (netlink >= 0
        && setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
        close(netlink);
        return -1;
    }
    return netlink;
}

static bool ask(int netlink, const void *request, size_t bytes)
{
    struct nlmsghdr header = {
        .nlmsg_len = (uint32_t)(sizeof header + bytes), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
    };
    struct iovec parts[] = { { &header, sizeof header }, { (void *)request, bytes } };

    return writev(netlink, parts, 2) == (ssize_t)header.nlmsg_len;
}

/* Takes the messages of one datagram. Returns 1 where more follow, 0 at the end, -1 where the
 * kernel refused. */
static int take_messages(const char *bytes, size_t length, mst_sock_diag_take *take, void *context)
{
    struct nlmsghdr header;
    size_t at;

    for (at = 0; at + sizeof header <= length; at += NLMSG_ALIGN(header.nlmsg_len)) {
        memcpy(&header, bytes + at, sizeof header);
        if (header.nlmsg_type == NLMSG_DONE)
            return 0;
        if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_len > length - at
            || header.nlmsg_len < NLMSG_HDRLEN
            || !take(context, bytes + at + NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN))
            return -1;
    }
    return 1;
}

bool mst_sock_diag_read(int netlink, const void *request, size_t bytes, mst_sock_diag_take *take,
                        void *context)
{
    char buffer[DATAGRAM_MAX];
    ssize_t n;
    int more;

    if (!ask(netlink, request, bytes))
        return false;
    do {
        do
            n = recv(netlink, buffer, sizeof buffer, 0);
        while (n < 0 && errno == EINTR);
        more = n > 0 ? take_messages(buffer, (size_t)n, take, context) : -1;
    } while (more > 0);
    return more == 0;
}

/* tcp_info.c - asks the kernel about a TCP connection. Apart from httpd's headers, which include
 * glibc's shorter struct tcp_info.
 */
#include "tcp_info.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"

/* Linux before 4.10 does not have all of it: what is missing stays 0. */
bool mst_tcp_info(int fd, struct mst_tcp_info *info)
{
    struct tcp_info kernel = {0};
    socklen_t size = sizeof kernel;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &kernel, &size) != 0)
        return false;
    info->received_ns = kernel.tcpi_last_data_recv * MST_NS_PER_MS;
    info->opened_ns = kernel.tcpi_last_data_sent * MST_NS_PER_MS;
    info->segments = kernel.tcpi_data_segs_in;
    info->busy_ns = kernel.tcpi_busy_time * MST_NS_PER_US;
    info->client_slow_ns = kernel.tcpi_rwnd_limited * MST_NS_PER_US;
    return true;
}

bool mst_tcp_unacknowledged(int fd, uint64_t *bytes)
{
    int unacknowledged;

    if (ioctl(fd, SIOCOUTQ, &unacknowledged) != 0 || unacknowledged < 0)
        return false;
    *bytes = (uint64_t)unacknowledged;
    return true;
}

/* delay.c - how long a thread was ready to run and had no CPU: the run delay in its schedstat.
 *
 * The file is opened once and read with one pread() each time.
 */
#include "delay.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

void mst_delay_open(void)
{
    if (MPMSTAT_G(delay_fd) < 0)
        MPMSTAT_G(delay_fd) = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void mst_delay_close(void)
{
    if (MPMSTAT_G(delay_fd) >= 0)
        close(MPMSTAT_G(delay_fd));
    MPMSTAT_G(delay_fd) = -1;
}

/* The text is "CPU-TIME RUN-DELAY TIMESLICES". */
static uint64_t second_number(const char *text, size_t length)
{
    const char *at = memchr(text, ' ', length);
    uint64_t n = 0;

    if (!at || at[1] < '0' || at[1] > '9')
        return MST_UNKNOWN;
    for (at++; *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (uint64_t)(*at - '0');
    return n;
}

uint64_t mst_delay_read(void)
{
    char text[96];
    ssize_t n;

    if (MPMSTAT_G(delay_fd) < 0)
        return MST_UNKNOWN;
    n = pread(MPMSTAT_G(delay_fd), text, sizeof text - 1, 0);
    if (n <= 0)
        return MST_UNKNOWN;
    text[n] = '\0';
    return second_number(text, (size_t)n);
}

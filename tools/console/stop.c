/* stop.c - ^C and its like: see stop.h. */
#include "console/stop.h"

#include <stddef.h>

static const int numbers[MST_STOP_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static struct mst_stop *volatile innermost;

static void on_signal(int number)
{
    struct mst_stop *stop = innermost;

    (void)number;
    stop->count = stop->count < 100 ? stop->count + 1 : 100;
    stop->raised = 1;
}

void mst_stop_begin(struct mst_stop *stop)
{
    const struct sigaction action = { .sa_handler = on_signal };
    size_t i;

    stop->count = stop->raised = 0;
    stop->outer = innermost;
    innermost = stop;
    for (i = 0; i < MST_STOP_SIGNALS; i++)
        sigaction(numbers[i], &action, &stop->saved[i]);
}

void mst_stop_end(struct mst_stop *stop)
{
    size_t i;

    for (i = 0; i < MST_STOP_SIGNALS; i++)
        sigaction(numbers[i], &stop->saved[i], NULL);
    innermost = stop->outer;
}

bool mst_stop_asked(void)
{
    return innermost != NULL && innermost->raised;
}

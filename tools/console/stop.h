/* stop.h - ^C and its like (SIGINT, SIGTERM, SIGHUP) ask for an end, and end what waits. */
#ifndef MPMSTAT_STOP_H
#define MPMSTAT_STOP_H

#include <signal.h>
#include <stdbool.h>

#define MST_STOP_SIGNALS 3

/* The present receiver of signals. Written by the signals' handler; the address of `raised`
 * is what functions take that wait (mst_sampler_open() and others). */
struct mst_stop {
    volatile sig_atomic_t count;     /* signals so far, 100 at most */
    volatile sig_atomic_t raised;    /* 1 from a signal on, until the owner lowers it */
    struct mst_stop *outer;
    struct sigaction saved[MST_STOP_SIGNALS];
};

/* From here to mst_stop_end() signals are told to `stop`, which begins with none, instead
 * of where they were told before: of several that are nested the innermost alone is told.
 * Without SA_RESTART: a system call that waits ends with EINTR. */
void mst_stop_begin(struct mst_stop *stop);
void mst_stop_end(struct mst_stop *stop);

/* Whether `raised` of the innermost is up. False where there is none: then a signal ends the
 * process. */
bool mst_stop_asked(void);

#endif

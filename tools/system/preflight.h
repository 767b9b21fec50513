/* preflight.h - what will spoil a measurement and can be seen before it begins: each a
 * sentence that says what to do.
 *
 * Reading is apart from judging, so that a test can judge any machine. A sentence is
 * said only where it is plain that something is wrong.
 */
#ifndef MPMSTAT_PREFLIGHT_H
#define MPMSTAT_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "loadtools/loadtool.h"
#include "system/machine.h"

#define MST_PREFLIGHT_LOOK_NS UINT64_C(200000000)   /* how long the machine is watched */

/* MST_UNKNOWN where it cannot be read. */
struct mst_preflight {
    uint64_t open_files;          /* how many the load tool may have open */
    uint64_t ports;               /* local ports to connect from */
    uint64_t port_reuse;          /* tcp_tw_reuse: 0 never, 1 always, 2 on loopback */
    uint64_t somaxconn;
    uint64_t busy_milli;          /* of all CPUs, just before: thousandths */
    uint64_t overflows;           /* accept queues that were found full meanwhile */
    char     governor[32];        /* of the CPUs' frequency: the first that saves power; "" */
};

/* Limits and settings of this machine. */
void mst_preflight_read(struct mst_preflight *p);
/* What the machine did between two samples. */
void mst_preflight_sample(struct mst_preflight *p, const struct mst_machine *before,
                          const struct mst_machine *after);

/* How many CPUs both this process (and with it the load tool) and that one may run on;
 * MST_UNKNOWN. */
uint64_t mst_preflight_shared_cpus(uint64_t pid);

struct mst_preflight_server {
    const char *name, *mpm;
    bool        local;            /* on this machine */
    uint64_t    workers_limit;
    uint64_t    queue_limit;      /* of one listening socket: each has its own */
};

/* Takes a sentence. A nonzero return ends the judging, which returns it. */
typedef int mst_preflight_say(void *context, const char *sentence);

/* plan: the load tool's. */
int mst_preflight_judge(const struct mst_preflight *p, const struct mst_plan *plan,
                        mst_preflight_say *say, void *context);
int mst_preflight_judge_server(const struct mst_preflight *p, const struct mst_plan *plan,
                               const struct mst_preflight_server *server,
                               mst_preflight_say *say, void *context);

#endif

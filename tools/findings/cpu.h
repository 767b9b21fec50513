/* cpu.h - what requests themselves tell of the CPUs, where no recording has seen the machine:
 * mpmstat explain. PHP measures the CPU time of its requests and how long they waited for a CPU. */
#ifndef MPMSTAT_FINDINGS_CPU_H
#define MPMSTAT_FINDINGS_CPU_H

#include "findings/budget.h"

struct mst_cpu_seen {
    bool     known;         /* nearly all requests were PHP's */
    uint64_t cpu_ns;        /* that they took: PHP's, and Apache's as far as it is known and comes
                             * out of the same CPUs */
    uint64_t cpus_milli;    /* CPUs that PHP may use, or its control group, in thousandths;
                             * MST_UNKNOWN */
    bool     has_quota;     /* it is the control group's */
    uint64_t used_milli;    /* cpu_ns of these, while PHP worked; MST_UNKNOWN */
    uint64_t waited_milli;  /* of php_run, the wait for a CPU: all CPUs were busy for that part of
                             * the time in which workers ran */
};

struct mst_cpu_seen mst_cpu_see(const struct mst_budget *b);

/* Whether the CPUs were full; and whether more work at once would mostly wait for them. */
bool mst_cpu_seen_full(const struct mst_cpu_seen *seen);
bool mst_cpu_seen_short(const struct mst_cpu_seen *seen);

#endif

/* made_report.h - archives of a run for reports. */
#ifndef MPMSTAT_TESTS_MADE_REPORT_H
#define MPMSTAT_TESTS_MADE_REPORT_H

#include "analysis/summary.h"
#include "base/clock.h"

#define START  (UINT64_C(1700000000) * MST_NS_PER_S)
#define MS     MST_NS_PER_MS

struct made {
    struct mst_archive *archive;
    struct mst_summary  s;
    int64_t run_id;
};

void sql(struct made *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A run of ten seconds and one Apache, without requests. */
void begin(struct made *m, const char *name, const char *url);

void add_request(struct made *m, unsigned key, uint64_t start_ns, uint64_t queue_ns,
                 uint64_t handle_ns, unsigned status);

/* Samples each second: `busy` workers of `limit` handle all the time. */
void add_samples(struct made *m, unsigned busy, unsigned limit);

void summarize(struct made *m);

void end(struct made *m);

#endif

/* outage.h - a time in which PHP-FPM did not run. */
#ifndef MPMSTAT_OUTAGE_H
#define MPMSTAT_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

struct mst_outage {
    uint64_t since_ns;             /* instant: it was stopped, or ended after that */
    bool     was_stopped;
    uint64_t answers, failed;      /* requests handed to it since then; those of them that failed */
    char     backend[128];         /* of these */
};

#endif

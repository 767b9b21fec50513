/* ledger.h - predictions that an archive keeps of a run, each for a change of settings or of the
 * load, so that a run with that change can be held against them.
 *
 * The tables are predictions and predicted_settings. A prediction is made by model/, and kept where
 * a finding advises the change, or where a user asks for it (mpmstat whatif --keep).
 */
#ifndef MPMSTAT_LEDGER_H
#define MPMSTAT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The measures that are kept. The rate is in thousandths of a request per second, times are in
 * nanoseconds. */
enum mst_ledger_measure {
    MST_LEDGER_RATE, MST_LEDGER_P50, MST_LEDGER_P95, MST_LEDGER_MEASURES
};

/* 90 % of the recordings of the changed server are from low to high. predicted MST_UNKNOWN: it is
 * not predicted. */
struct mst_ledger_value { uint64_t predicted, low, high; };
#define MST_LEDGER_VALUE_MOST UINT64_C(1000000000000000000)   /* 31 years, in nanoseconds */

struct mst_ledger_setting {
    char section[64];              /* FPM's pool; "": Apache has none */
    char name[40], value[64];
};
#define MST_LEDGER_SETTINGS 8u

#define MST_LEDGER_BY_USER "whatif"

struct mst_ledger_entry {
    uint64_t number;               /* in its run */
    char     code[40];             /* of the finding that advises the change, or
                                    * MST_LEDGER_BY_USER */
    size_t   setting_count;        /* 0: the load alone is other */
    struct mst_ledger_setting settings[MST_LEDGER_SETTINGS];
    uint64_t clients;              /* of the load with the change, which wait for answers; */
    uint64_t load_milli;           /* or where requests come by themselves: thousandths a second.
                                    * The other one is MST_UNKNOWN */
    bool     by_client;            /* the times are the load tool's, else the server's */
    struct mst_ledger_value values[MST_LEDGER_MEASURES];
};

/* False: the entry has no room for it. */
bool mst_ledger_add_setting(struct mst_ledger_entry *e, const char *section, const char *name,
                            const char *value);

/* Whether a setting only bounds others, and does nothing by itself: ServerLimit. */
bool mst_ledger_is_bound(const char *name);
/* Whether it is how many workers there can be, which a server tells by itself. */
bool mst_ledger_is_limit(const char *name);

/* Whether both are of the same settings. Their loads can differ, and who says it. */
bool mst_ledger_are_same(const struct mst_ledger_entry *a, const struct mst_ledger_entry *b);

#endif

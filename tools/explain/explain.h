/* explain.h - why servers are as they are, without a recording: mpmstat explain.
 *
 * The journals on the boards have the requests of the last minutes. They become a run in an archive
 * in memory, of which the analysis makes the same summary and the same findings as of a recorded
 * run. What only a recording sees (the load tool, the CPUs, queues before now) stays unknown.
 *
 * Where the workers of a server are busy and none has taken a request for MST_STUCK_NS, the cause
 * is what they do now: then the journal is not asked, and the answer is there at once.
 */
#ifndef MPMSTAT_EXPLAIN_H
#define MPMSTAT_EXPLAIN_H

#include "analysis/summary.h"
#include "archive/archive.h"
#include "findings/outage.h"
#include "read/present.h"
#include "render/sink.h"
#include "source/source.h"
#include "system/machine.h"

#define MST_EXPLAIN_LAST_NS UINT64_C(300000000000)   /* without --last */

#define MST_EXPLAIN_STUCK 16u   /* servers and pools that are stuck, at most */

struct mst_explained_server {
    struct mst_target *target;
    struct mst_source *source;
    struct mst_sample  sample;          /* now */
    struct mst_present now;
    bool               is_running;
    bool               is_aside;        /* not running, while others do: it is shown where it is
                                         * missed */
    bool               is_missed;
    bool               is_without;     /* it has ended, and one runs that has no board */
    uint64_t           workers_left;    /* of a PHP-FPM without its master: processes that serve */
    char               lost_socket[MST_LISTEN_ADDRESS_MAX];   /* of a PHP-FPM: on which it listens,
                                         * though the file was removed; "" */
    uint64_t           php_cpu_ns;      /* a PHP's: CPU time of its requests since its start */
    uint64_t           cpu_limit_milli; /* of its control group; MST_UNKNOWN: none is known */
    int64_t            id;              /* in the archive */
    uint64_t           since_ns;        /* the journal has all requests that ended since then;
                                         * nanoseconds since 1970 */
    uint64_t           any_busy_ns;     /* time of the window in which a request had a worker */
    uint64_t           last_ns;         /* when its latest request ended; 0: none did */
};

struct mst_explanation {
    struct mst_targets targets, behind;
    size_t             server_count;
    struct mst_explained_server *servers;
    uint64_t           last_ns;              /* as asked for */
    uint64_t           from_ns, until_ns;    /* nanoseconds since 1970 */
    bool               ends_now;             /* until_ns is when the servers were looked at */
    size_t             stuck_count;          /* if any, the past is not told */
    struct mst_held    stuck[MST_EXPLAIN_STUCK];
    bool               knows_pressure;       /* a server of this machine is among them */
    uint64_t           cpu_pressure_milli[MST_PRESSURE_SPANS];   /* see machine.h */
    struct mst_outage  outage;               /* before the only PHP-FPM was started */
    struct mst_archive *archive;
    int64_t            run_id;
    struct mst_summary summary;              /* with findings and verdict */
};

/* "90", "90s", "5m", "2h": one second to seven days. False: the text is not such a time. */
bool mst_explain_last_parse(const char *text, uint64_t *last_ns);

/* Explains the targets (none: all of this machine); last_ns: how long ago the oldest requests may
 * have ended. Returns an enum mst_exit, having said the error. Free it in either case. */
int  mst_explain(struct mst_explanation *e, const struct mst_target_names *targets,
                 uint64_t last_ns);
/* Only the run that the journals give, also of servers that are stuck: without findings. */
int  mst_explain_requests(struct mst_explanation *e, const struct mst_target_names *targets,
                          uint64_t last_ns);
void mst_explanation_free(struct mst_explanation *e);

/* The sentence of what explains most, for one line; "" where there is none. Of the explanation. */
const char *mst_explanation_sentence(const struct mst_explanation *e);

void mst_explain_text(struct mst_sink *sink, const struct mst_explanation *e);
void mst_explain_json(struct mst_sink *sink, const struct mst_explanation *e);

#endif

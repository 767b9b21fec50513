/* capacity.h - what a server takes, in words, as a table and as JSON: mpmstat capacity. */
#ifndef MPMSTAT_REPORT_CAPACITY_H
#define MPMSTAT_REPORT_CAPACITY_H

#include "analysis/summary.h"
#include "capacity/search.h"
#include "doc/doc.h"
#include "memory/pool.h"
#include "model/predict.h"

/* What is promised. */
struct mst_slo {
    const char *text;                             /* as the user said it; NULL: nothing is */
    uint64_t    most_ns[MST_PERCENTILE_COUNT];    /* 0: not this one */
};

/* What the run of a level says besides its rate. */
struct mst_capacity_run {
    int64_t     id;
    uint64_t    times_ns[MST_PERCENTILE_COUNT];   /* MST_UNKNOWN: too few, or not known */
    uint64_t    requests, failed;                 /* requests 0: none was done */
    bool        tool_failed;
    /* Most of the clients have no request at the servers: the load tool, or what is between it and
     * them, has their time. */
    bool        elsewhere;
    enum mst_answer steady;                       /* its check `steady` */
    /* What ran out, or else its first finding. */
    bool          has_finding;
    enum mst_code code;
    const char   *text, *action;
};

/* The level of the knee, measured once more after all others: whether the server is still the one
 * that it was. */
struct mst_capacity_again {
    bool known;
    struct mst_level        level;
    struct mst_capacity_run run;
};

/* What runs out next, with as many of the workers as the load wants: the model's. */
struct mst_capacity_next {
    bool        known;
    const char *name;                             /* as the model names it; NULL: nothing does */
    uint32_t    clients;
    double      workers;                          /* that these clients keep busy */
    struct mst_model_estimate rate;               /* requests per second */
    const char *busier;                           /* an end that was never seen as busy; NULL */
};

/* What the model of the run that says what is the limit comes to at a level. */
struct mst_capacity_foreseen { struct mst_model_estimate rate, p95; };

struct mst_capacity {
    apr_pool_t *pool;
    const char *archive, *command;                /* command: with its open places */
    bool        by_rate;
    struct mst_slo slo;
    const struct mst_level        *levels;
    const struct mst_capacity_run *runs;          /* of the same levels */
    size_t      count;
    struct mst_search search;
    struct mst_capacity_again again;
    bool        time_is_up, interrupted;
    struct mst_capacity_next next;
    const struct mst_capacity_foreseen *foreseen; /* of the same levels; NULL: nothing is */
};

/* "1 client", "40 clients" */
const char *mst_capacity_clients(apr_pool_t *pool, uint64_t clients);

/* The run that says what is the limit; NULL: none does. */
const struct mst_capacity_run *mst_capacity_limit(const struct mst_capacity *c);

/* Whether a time that is promised is longer, and which is. */
bool mst_slo_broken(const struct mst_slo *slo, const struct mst_capacity_run *run,
                    enum mst_percentile *which);

/* Whether the load was raised until it was too much for the server. */
bool mst_capacity_is_known(const struct mst_capacity *c);
/* What it takes: the rate of the best level, 0: it is not known. It takes more where at_least. */
double mst_capacity_rate(const struct mst_capacity *c);
bool   mst_capacity_is_least(const struct mst_capacity *c);
/* The same; where the server did less once more at the end, only that. */
double mst_capacity_rate_held(const struct mst_capacity *c);

/* The answer, what ran out, and what would be next; then a table of the levels. */
void mst_capacity_say(const struct mst_doc *doc, const struct mst_capacity *c);
void mst_capacity_put_levels(const struct mst_doc *doc, const struct mst_capacity *c);
/* A page of both, with the curves of rate and p95 between them. */
void mst_capacity_html(struct mst_sink *sink, const struct mst_capacity *c);
/* The sentence alone. */
void mst_capacity_verdict(const struct mst_doc *doc, const struct mst_capacity *c);
/* An object, with a line's end. Its names are promises. */
void mst_capacity_json(struct mst_sink *sink, const struct mst_capacity *c);

#endif

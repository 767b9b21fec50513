/* inquiry.h - what the rules ask and where they put what they find. */
#ifndef MPMSTAT_INQUIRY_H
#define MPMSTAT_INQUIRY_H

#include <sqlite3.h>
#include <stdbool.h>

#include "analysis/code_bill.h"
#include "archive/query.h"
#include "findings/budget.h"

struct mst_foresight;

struct mst_inquiry {
    struct mst_summary *s;
    sqlite3            *db;
    struct mst_budget   b;
    struct mst_code_bills code;   /* of the PHP that was asked about last */
    bool                predicts; /* findings tell what their advice changes */
    const char         *obstacle; /* why it is not known what requests waited for; NULL */
    struct mst_foresight *foresight;   /* foresight.h; NULL: not asked for yet */
    bool                failed;   /* SQLite failed, or memory ran out */
};

/* Adds a finding; its share is part_ns of the time of all requests, and so is its weight at first.
 * Never NULL: where memory runs out the inquiry has failed, and the finding is nobody's. */
struct mst_finding *mst_found(struct mst_inquiry *q, enum mst_code code,
                              enum mst_certainty certainty, uint64_t part_ns);
/* The same of a share of all requests: how many. */
struct mst_finding *mst_found_requests(struct mst_inquiry *q, enum mst_code code,
                                       enum mst_certainty certainty, uint64_t requests,
                                       uint64_t of);
/* A figure for programs; unknown ones are left out. */
void mst_found_number(struct mst_finding *f, const char *name, uint64_t value);
#define MST_AVAILABLE "available_bytes"       /* memory of the machine, when least was */
#define MST_STOPPED_PID "stopped_pid"         /* a process that was seen stopped */
#define MST_NONE_TAKEN_NS "none_taken_ns"     /* since when stuck workers have taken no request */
#define MST_LOST_BY_APACHE "lost_by_apache"   /* 1: it is of requests that Apache gave up */
#define MST_CONNECT_NS "connect_ns"   /* what of the calls' time connecting has */
#define MST_OF_CPU "of_cpu_milli"   /* what compiling has of PHP's CPU time */
/* A figure that answers a question, as MST_ONE_AT_A_TIME does: 1, 0, or MST_UNKNOWN, which is not
 * left out. */
#define MST_CALLS_ITSELF  "calls_itself"    /* what PHP calls is the server that waits for PHP */
#define MST_READS_FILES_AGAIN "reads_files_again"   /* memory is too short to keep them */
void mst_found_answer(struct mst_finding *f, const char *name, enum mst_answer answer);
void mst_found_subject(struct mst_finding *f, const char *subject);

/* Many failures come before all else; few are a finding of their own, of that weight or more. */
void mst_weigh_failure(struct mst_finding *f, uint64_t floor);

/* What explains less than others, or follows from them, is not a headline. */
void mst_found_no_headline(struct mst_finding *f);

/* True where findings about the server belong to this inquiry: the server is the budget's front, or
 * a PHP that works for it. A server that works for none of those that the load was for belongs to
 * the busiest one's inquiry. */
bool mst_is_ours(const struct mst_inquiry *q, const struct mst_summary_server *server);

/* What the environment has of a server as "value": of an Apache's "settings" its row
 * "apache_settings", or "apache_2_settings", as the recording names it. End it. */
struct mst_query mst_ask_environment(sqlite3 *db, const struct mst_summary *s,
                                     const struct mst_summary_server *server, const char *what);

/* For how long requests waited for a server's workers while it restarted, and how many of its
 * processes ended for that: 0 where it did not restart. */
uint64_t mst_restart_wait_ns(struct mst_inquiry *q, const struct mst_summary_server *server);
uint64_t mst_restart_exits(struct mst_inquiry *q, const struct mst_summary_server *server);

/* The finding of that code that was added first, or NULL; of several servers the run's, or the
 * one's of that name. */
const struct mst_finding *mst_findings_get(const struct mst_summary *s, enum mst_code code,
                                           const char *server);

/* The weight, in thousandths, of a resource that took part_ns of the requests' time. It explains
 * this part, and of the waits for workers the same share as of the time for which workers were
 * held, by requests or by idle connections. */
uint64_t mst_weight_with_queue(const struct mst_budget *b, uint64_t part_ns);

/* The column `number` of the query's first row, and ends the query; MST_UNKNOWN where it is NULL
 * or there is no row. */
uint64_t mst_end_with_number(struct mst_inquiry *q, struct mst_query *row);
/* The same of sql that has a server's :id as its only parameter; 0 where it is unknown. */
uint64_t mst_ask_sum(struct mst_inquiry *q, const char *sql, const struct mst_summary_server *of);

/* The same for a resource that lets in one request at a time and is never free. It explains all
 * waits for workers: with more workers, these requests would wait for the resource instead. */
uint64_t mst_weight_with_all_waiting(const struct mst_budget *b, uint64_t part_ns);

#endif

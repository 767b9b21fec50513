/* summary.h - what a run comes to: both sides, the checks, the findings.
 *
 * Made from an archive alone, so that it is the same right after the run and
 * years later. MST_UNKNOWN is what the archive does not tell.
 */
#ifndef MPMSTAT_SUMMARY_H
#define MPMSTAT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/finding.h"
#include "analysis/name_table.h"
#include "analysis/need.h"
#include "archive/archive.h"
#include "archive/states.h"
#include "base/saturate.h"
#include "segment/format.h"
#include "segment/parts.h"
#include "stats/quantile.h"

/* Of a set of times. Quantiles are nearest-rank: one of the times. Of too few times
 * (mst_percentile_needs), p95 and p99.9 are MST_UNKNOWN; the others, which older formats have, are
 * then the longest time. */
struct mst_summary_times {
    uint64_t count, sum_ns, mean_ns, p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns;
};

/* The percentiles that tables show. */
enum mst_percentile { MST_P50, MST_P90, MST_P95, MST_P99, MST_P999, MST_PERCENTILE_COUNT };
extern const char *const mst_percentile_names[MST_PERCENTILE_COUNT];   /* "p99.9" */

/* The same requests on both sides, one by one: join_client.c. */
enum mst_join { MST_JOIN_NONE, MST_JOIN_ID, MST_JOIN_TIME };
struct mst_summary_join {
    enum mst_join by;                  /* NONE: the load tool's rows do not tell which is which */
    uint64_t ambiguous;                /* of those by time: another one might have been it */
    struct mst_summary_times apart;    /* how much longer than for the server; 0 where shorter */
};

/* One of several processes that made the load. */
struct mst_summary_generator {
    char    *name, *tool;
    uint64_t requests, failed, bad_lines;
    uint64_t first_ns, last_ns;        /* instants by the server's clock */
    int64_t  clock_ahead_ns;           /* of the server's; 0 also where it is not known */
    uint64_t clock_uncertainty_ns;     /* MST_UNKNOWN: its clock is taken as the server's */
    uint64_t fitting_milli;            /* of its requests, those that enclose a server's */
    uint64_t dropped;                  /* iterations that it could not begin when they should */
    uint64_t cpu_milli;                /* thousandths of a CPU that its process took */
    bool     cut_short;                /* it did not end by itself */
};

struct mst_summary_client {
    bool     known;                    /* the load tool's results could be read */
    char    *tool;                     /* the adapter's name; NULL: no command */
    uint64_t requests, failed, unfinished, requested;
    uint64_t failed_connect, failed_receive, failed_length, failed_timeout, failed_other;
    uint64_t non_2xx;
    uint64_t concurrency, bytes, duration_ns;
    uint64_t requests_per_1000s;
    struct mst_summary_times times;    /* count 0: from the tool's own table */
    uint64_t time_step_ns;             /* resolution of times; MST_UNKNOWN */
    uint64_t rows_start_step_ns;       /* of the rows' starts; MST_UNKNOWN: there are none */
    struct mst_summary_join join;
    bool     has_ids;                  /* its rows have ids, as the servers' requests can have */
    bool     abandons;
    bool     corrected;                /* for coordinated omission: times include made-up ones */
    /* Of the load tool, as struct mst_loadtool says. */
    bool     follows_redirects, rows_omit_failures;
    unsigned failed_from_status;
    const char *failure_mark;
};

/* What PHP did while an Apache had a request: PHP's intervals laid over Apache's
 * phases, for each of the Apache's requests of this run. Where a request never came
 * to PHP, all of it is `other`; the parts of a phase add up to it. */
struct mst_summary_overlay {
    bool     known;                    /* a PHP was recorded too */
    uint64_t joined;                   /* requests with PHP's record */
    uint64_t wait_unknown;             /* of those */
    struct mst_summary_times handle_wait, handle_run, handle_other, send_run, send_other;
    struct mst_summary_times run;      /* handle_run and send_run: php_run during the request */
};

/* An interval, or a kind of wait: of all requests that tell, 0 where there was none. */
struct mst_summary_interval {
    uint64_t requests;                 /* that had it */
    struct mst_summary_times times;    /* count 0: no request had it, or tells */
};

/* Calls of an other end during the run. */
struct mst_summary_end {
    char    *kind, *name;
    uint64_t calls, failed, end_ns;
    uint64_t connect_ns;               /* of end_ns, calls of PHP's that connect; MST_UNKNOWN */
};

/* What a server had of the limits around it, and of its disks. "Over the load" is from the sample
 * before it to the one at its end. A limit is MST_UNKNOWN also where there is none. */
struct mst_summary_resources {
    /* Of the process that came nearest to its limit, at that moment: descriptors. */
    uint64_t files, files_limit, files_pid;
    /* Of the control groups that limit its parent process: other processes can be in them. */
    uint64_t group_cpu_ns;             /* over the load */
    uint64_t group_cpu_limit_milli;    /* thousandths of a CPU; the lowest of the load */
    uint64_t group_throttled_ns;       /* over the load; adds up over the CPUs */
    uint64_t group_memory_bytes, group_memory_limit_bytes;   /* when it was nearest to the limit */
    uint64_t group_io_stall_ns;        /* over the load: any of them waited for a disk */
    /* Threads of mod_http2 in the child that had most of them at work; the samples of the load in
     * which all of that child's were, in thousandths. MST_UNKNOWN: there is no mod_http2. */
    uint64_t http2_workers, http2_workers_limit, http2_full_milli;
};

/* A pool of a PHP-FPM: a label with a limit of its own. */
struct mst_summary_pool {
    char    *label;
    uint64_t workers_limit;            /* pm.max_children; the lowest of the load */
    uint64_t samples, max_busy;        /* during the load */
    uint64_t mean_busy_milli;          /* thousandths of a worker: mean of the samples between the
                                        * first request's begin and the last one's end */
    uint64_t at_limit_milli;           /* thousandths of these with all its workers busy */
    uint64_t limit_reached;            /* how often all its workers were busy in the recording */
    /* This run's requests under the label. */
    uint64_t requests;
    uint64_t waited;                   /* those whose php_wait is known */
    uint64_t wait_sum_ns, wait_max_ns; /* php_wait of these; MST_UNKNOWN: of none */
    uint64_t waited_at_limit_ns, at_limit_ns;   /* as a server's */
    uint64_t run_sum_ns;               /* php_run */
    uint64_t measured;                 /* those whose waits are known */
    uint64_t waits_sum_ns[MST_WAIT_COUNT];   /* parts of php_run, by kind of wait */
    uint64_t max_memory_bytes;
    uint64_t came_at_once_p99;         /* as a server's */
};

#define MST_PAGES_MOST 20u             /* of a server's pages; one row more has all others */

/* What kept a server's workers: an Apache's requests that had one, or a PHP's. */
struct mst_summary_held {
    uint64_t requests, late;           /* late: those that ended after the load tool */
    double   sum_ns;
};

struct mst_kept;

struct mst_summary_server {
    int64_t  id;
    bool     local;                    /* on the machine that recorded */
    enum mst_producer producer;
    enum mst_sapi sapi_kind;
    char    *target, *server, *mpm, *sapi, *unknown;
    char    *name;                     /* in the file of targets; NULL: none */
    /* This run's requests: of the load, without mpm-status and without those in flight
     * before the start. */
    uint64_t requests, in_flight_before;
    uint64_t first_ns, last_ns;        /* instants: the first one's begin, the last one's end */
    uint64_t late;                     /* completed after the load tool had ended */
    uint64_t waited;                   /* requests that waited for a worker at all */
    uint64_t waited_at_limit_ns, at_limit_ns;   /* what they waited while all workers were busy, at
                                        * the limit, and for how long these were: see at_limit.h;
                                        * MST_UNKNOWN */
    uint64_t aborted, errors_4xx, errors_5xx, redirects, non_2xx, bytes;
    /* A PHP's total is what it knows: php_run, and php_wait where that is known. */
    struct mst_summary_times phases[MST_PHASE_COUNT];   /* another producer's: count 0 */
    struct mst_summary_overlay php;    /* an Apache's */
    struct mst_summary_interval intervals[MST_INTERVAL_COUNT];   /* an Apache's, as measured: some
                                        * lie in others, or in PHP's time */
    struct mst_summary_interval parts[MST_PART_COUNT];   /* where the time went: over all requests,
                                        * and together their total (split.h) */
    struct mst_kept *kept;             /* its requests (kept.h); NULL: none was read */
    uint64_t measured;                 /* a PHP's requests whose waits are known */
    uint64_t with_path;                /* an Apache's requests whose path is known */
    struct mst_by_name pages;          /* an Apache's requests by path; empty: none is known */
    size_t   end_count;                /* the longest time first */
    struct mst_summary_end *ends;
    uint64_t joined;                   /* a PHP's requests that are an Apache's here */
    int64_t  only_apache;              /* a PHP's: the one that all its requests come from; 0: there
                                        * are several, or it is not known */
    struct mst_summary_held held;      /* this run's requests */
    uint64_t fatal, timeouts, uncached, php_cpu_ns, max_memory_bytes;   /* a PHP's */
    struct mst_opcache opcache;        /* a PHP's, as the recording ended; restarts: during it. With
                                        * a state that is known, other words can be MST_UNKNOWN */
    uint64_t marks;
    uint64_t counted;                  /* as the server's counters say, with in_flight_before */
    uint64_t lost, restarts;
    uint64_t workers_limit, max_busy;
    uint64_t samples;                  /* during the load */
    uint64_t at_once_p99;              /* requests at once, with a worker or in the accept queue:
                                        * 99 % of the samples have no more. MST_UNKNOWN */
    uint64_t came_at_once_p99;         /* the same with those that wait elsewhere, of the requests
                                        * when they come. MST_UNKNOWN: there were workers enough */
    uint64_t queued_at_once;           /* an Apache's requests that waited for its workers at once,
                                        * at most. MST_UNKNOWN also: no accept queue of the machine
                                        * was full */
    uint64_t mean_busy_milli;          /* thousandths of a worker, over the load; exact */
    uint64_t mean_state_milli[MST_STATE_COUNT];
    uint64_t working_ns;               /* workers' time reading, handling, sending, logging */
    uint64_t held_ns;                  /* the same as the requests say, all of them; a PHP's:
                                        * php_run */
    uint64_t span_ns;                  /* that these two are of: the samples', first to last */
    uint64_t in_flight;                /* when the recording ended */
    /* The growth of the server's counters. Of one that was stopped and started these four are of
     * its journals, and the others, as mean_... and working_ns, are not known. */
    uint64_t forks, exits, unfinished, generations;
    uint64_t forks_failed, shed, no_idle_ns;
    uint64_t max_listen_queue, listen_queue_limit;   /* of the socket that was fullest */
    char    *listens;                  /* addresses at which it listens, separated by blanks; NULL
                                        * not known */
    char    *listen_address;           /* of that socket; NULL not known */
    char    *listen_pool;              /* the FPM pool that it is of; NULL: none, or not known */
    uint64_t peak_pss_bytes, peak_processes;
    uint64_t peak_rss_bytes;           /* when PSS was at its peak */
    uint64_t killed;                   /* processes that ended unexpectedly; of these */
    uint64_t signalled;                /* by a signal that the server logged */
    /* Of its cgroup, during the load; the limit MST_UNKNOWN also where there is none.
     * throttled_ns adds up over the CPUs: it can be longer than the load. */
    char    *cgroup;
    uint64_t memory_limit, oom_kills, memory_stall_ns, throttled_ns;
    uint64_t cpu_ns;
    uint64_t request_cpu_ns;           /* of an Apache without a recording: CPU time that a request
                                        * has taken on average since its start, without that of PHP.
                                        * 0: not known */
    uint64_t any_busy_ns;              /* the same: time in which any of its workers was busy; 0 */
    bool     clock_known;              /* whether clock_offset_ns is */
    int64_t  clock_offset_ns;          /* an instant minus this is its CLOCK_MONOTONIC */
    int64_t  clock_ahead_ns;           /* of the recorder's, taken off its instants */
    uint64_t clock_uncertainty_ns;     /* MST_UNKNOWN: it is on that machine, or not known */
    struct mst_summary_resources resources;
    size_t   pool_count;               /* an FPM's, by label */
    struct mst_summary_pool *pools;
};

/* A program of the recording machine that took CPU time, or disks, during the load. */
struct mst_summary_program {
    char    *name;
    enum mst_proc_owner owner;         /* MST_PROC_OWNER_COUNT: an older archive does not tell */
    uint64_t cpu_ns;
    uint64_t disk_bytes;               /* read from and written to disks; MST_UNKNOWN */
};

/* Local TCP ports of the recording machine in use towards an address, when most were. */
struct mst_summary_port {
    char    *remote;                   /* "127.0.0.1:9000" */
    uint64_t ports, limit;
};

enum mst_check_id {
    MST_CHECK_COUNTS, MST_CHECK_LITTLES_LAW, MST_CHECK_JOURNAL_COMPLETE, MST_CHECK_GENERATOR,
    MST_CHECK_ACCEPT_QUEUE, MST_CHECK_STEADY, MST_CHECK_COUNT
};

struct mst_check {
    const char     *name;
    enum mst_answer ok;
    char            text[512];
};

struct mst_summary {
    int64_t  id;
    char    *name, *command_json, *command_line, *added;
    enum mst_outcome outcome;
    uint64_t repetition;               /* which of --repeat's runs; MST_UNKNOWN: one alone */
    bool     complete;
    uint64_t started_ns, ended_ns, duration_ns, exit_status, exit_signal;
    uint64_t tool_cpu_ns, tool_threads, memory_cost_ns, recorder_cpu_ns;
    uint64_t cpus, machine_cpus;       /* that the servers may use, and that there are */
    uint64_t machine_busy_milli;       /* thousandths of the former, during the load */
    uint64_t machine_stolen_milli;     /* of them, what the hypervisor gave to other machines */
    uint64_t listen_overflows;         /* on the machine, during the load */
    uint64_t memory_stall_ns, oom_kills;   /* the same */
    uint64_t memory_available;         /* bytes, when least were */
    uint64_t max_runnable;             /* threads that ran or waited for a CPU at once; sampled */
    uint64_t cpu_stall_ns, tcp_retransmits, syn_retransmits;   /* as listen_overflows */
    uint64_t io_stall_ns;              /* the same */
    uint64_t max_blocked;              /* threads that waited for a disk at once; sampled */
    struct mst_summary_client client;
    size_t   generator_count;          /* 0: the load was one command's, and mpmstat read it */
    struct mst_summary_generator *generators;
    size_t   server_count;
    struct mst_summary_server *servers;
    size_t   program_count;            /* the busiest first */
    struct mst_summary_program *programs;
    size_t   port_count;               /* the most ports first; none below a hundredth of all */
    struct mst_summary_port *ports;
    size_t   note_count;
    char   **notes;
    bool     is_thinned;               /* its archive */
    uint64_t thinned_kept, thinned_of; /* requests that the archive has, of so many; 0: all */
    char     thinned[192];             /* the sentence; "" */
    struct mst_check checks[MST_CHECK_COUNT];
    /* Made by findings/: */
    size_t   finding_count;            /* strongest first */
    struct mst_finding *findings;
    size_t   headline_count;           /* the first one or two, of which the verdict is made */
    char     headlines[2][MST_HEADLINE_MAX];   /* the sentence of each, and what follows from it */
    char     verdict[2 * MST_HEADLINE_MAX];    /* these */
    size_t   need_count;               /* 0: the load tool talked to one server */
    struct mst_need *needs;            /* in the order of the servers, a PHP behind its Apache */
    uint64_t needs_bytes;              /* memory of those on this machine, as far as it is known */
    uint64_t room_bytes;               /* MST_RAM_SHARE_MILLI of the machine's; MST_UNKNOWN */
    struct mst_sizing *sizing;         /* advice on limits; NULL: nobody asked for it */
};

/* The runs of an archive, oldest first. 0, or -1 with a sentence. Free *ids. */
int mst_summary_runs(struct mst_archive *a, int64_t **ids, size_t *count,
                     char error[MST_ERROR_MAX]);

/* 0, or -1 with a sentence. Free with mst_summary_free in either case. */
int  mst_summary_make(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                      char error[MST_ERROR_MAX]);
void mst_summary_free(struct mst_summary *s);

/* Requests without a good answer. A load tool may count answers with an error status as failed,
 * too; a page whose length varies is not a failure. */
uint64_t mst_summary_failures(const struct mst_summary_client *c);

/* How many requests the load tool made: those that it counts, and those that failed besides.
 * MST_UNKNOWN: it does not tell. */
uint64_t mst_summary_made(const struct mst_summary_client *c);

/* Whether an answer leads elsewhere. 304 does not: it answers a conditional request, by "what you
 * have is still right". */
bool mst_status_redirects(uint64_t status);

/* How many redirects the load tool followed to a server of the run: one request of its is two of
 * the servers', or more. 0: none, or it is not known. */
uint64_t mst_summary_redirects_followed(const struct mst_summary *s);

/* Whether the load tool's requests to the server are known, and so from when to when it had them:
 * first_ns and last_ns. */
bool mst_summary_has_load(const struct mst_summary *s, const struct mst_summary_server *server);
/* The time in which the server had its requests: from the first one's begin to the last one's end,
 * so that it does not count how long the load tool took to start and to end; no longer than the
 * tool ran. Without a load tool it is the recording's. MST_UNKNOWN: the run did not end. */
uint64_t mst_summary_under_load_ns(const struct mst_summary *s,
                                   const struct mst_summary_server *server);
/* The rate at which it completed them, in thousandths of a request a second. What ended after the
 * tool is none of that; another machine's clock does not tell which these are. */
uint64_t mst_summary_rate_milli(const struct mst_summary *s,
                                const struct mst_summary_server *server);

/* bottleneck.c: whether all of a server's workers were busy; whether its requests waited for
 * one, longer than what is not measured, or what handing over takes. */
bool mst_summary_all_busy(const struct mst_summary_server *server);
bool mst_summary_waits(const struct mst_summary_server *server);
/* bottleneck.c: whether requests waited for workers mostly before all were busy, while processes
 * were started: a higher limit would not have helped them. */
bool mst_summary_started_late(const struct mst_summary_server *server);
/* bottleneck.c: whether all its workers were busy, and requests did not only wait while processes
 * were started; of a pool, and whether its requests waited. */
bool mst_summary_is_short(const struct mst_summary_server *server);
bool mst_pool_is_short(const struct mst_summary_server *server,
                       const struct mst_summary_pool *pool);

/* The server that the load was for: the Apache with the most requests, or where
 * there is none the PHP. NULL: no server. */
const struct mst_summary_server *mst_summary_front(const struct mst_summary *s);

/* True where the load was for the server: it is of the front's kind, and no neighbour that somebody
 * only looks at meanwhile, which has less than a hundredth of the front's requests. */
bool mst_summary_is_served(const struct mst_summary *s, const struct mst_summary_server *server);

/* Several servers as one. The percentiles of all are not known from those of each. */
struct mst_summary_all {
    size_t   count;
    uint64_t requests, errors_4xx, errors_5xx, redirects, non_2xx, aborted;
    uint64_t rate_milli, mean_busy_milli, workers_limit;
    struct mst_summary_times phases[MST_PHASE_COUNT];
    struct mst_summary_times intervals[MST_INTERVAL_COUNT];
    struct mst_summary_interval parts[MST_PART_COUNT];   /* their means add up to the total's */
};

/* All PHPs, or all Apaches; those that the load tool talks to, which are of the front's kind. */
struct mst_summary_all mst_summary_all(const struct mst_summary *s, bool php);
struct mst_summary_all mst_summary_fronts(const struct mst_summary *s);

/* The generator of a load from several that was at its limit, the busiest of these; NULL: none, or
 * not known. */
const struct mst_summary_generator *mst_summary_limit(const struct mst_summary *s);

/* The PHP that worked for such a server, the one with the most of an Apache's requests; itself,
 * where it is one. One whose requests all are this server's comes before one of which that is not
 * known. NULL: none was recorded. */
const struct mst_summary_server *mst_summary_php_of(const struct mst_summary *s,
                                                    const struct mst_summary_server *front);
/* The same of mst_summary_front(). */
const struct mst_summary_server *mst_summary_behind(const struct mst_summary *s);

/* The server whose requests it works for: itself, or of a PHP the Apache that all its requests come
 * from. Where a PHP serves several, or it is not known whom: `otherwise`, one of those that the
 * load tool talks to. */
const struct mst_summary_server *mst_summary_front_of(const struct mst_summary *s,
                                                      const struct mst_summary_server *server,
                                                      const struct mst_summary_server *otherwise);

/* The phases that such a server has, in the order in which they are shown. */
size_t mst_summary_phases(const struct mst_summary_server *server, const enum mst_phase **phases);

/* Whether an interval is so much of its phase that tables show it: MST_PART_SHARE_MILLI in
 * thresholds.h. */
bool mst_summary_has_interval(const struct mst_summary_server *server, enum mst_interval interval);

/* How many calls of the end there were at once on average, in thousandths. */
uint64_t mst_summary_at_once_milli(const struct mst_summary *s, const struct mst_summary_end *end);

bool mst_summary_is_php(const struct mst_summary_server *server);
/* Whether several of its workers share a process. */
bool mst_summary_is_threaded(const struct mst_summary_server *server);

/* Whether a PHP started processes while it was recorded: pm = dynamic, or ondemand. */
bool mst_summary_spawns(const struct mst_summary_server *server);

/* How far its clock is from the recorder's, ahead or behind. */
uint64_t mst_summary_clock_ns(const struct mst_summary_server *server);

/* What people call it: its name, else its target. */
const char *mst_summary_called(const struct mst_summary_server *server);

/* Thousandths of the whole, rounded; MST_UNKNOWN where one of them is, or the whole is 0. */
uint64_t mst_summary_milli(uint64_t part, uint64_t whole);

/* How many times there have to be: of fewer, the percentile would be the longest. */
uint64_t mst_percentile_needs(enum mst_percentile percentile);
/* The percentile as people get it: MST_UNKNOWN also of too few times. A load tool's own table
 * (count 0) is taken as it is. */
uint64_t mst_summary_percentile(const struct mst_summary_times *t, enum mst_percentile percentile);

/* Statistics of a set of times, which it sorts. */
void mst_summary_times_of(struct mst_summary_times *t, struct mst_values *values);
/* The same of so many, of which those that are not in the set are 0; it frees the set. False: out
 * of memory. */
bool mst_summary_times_with_zeros(struct mst_summary_times *t, struct mst_values *values,
                                  uint64_t count);

#endif

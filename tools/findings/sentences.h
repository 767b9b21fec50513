/* sentences.h - the findings' sentences: text, action and prediction of each. The rules say when.
 *
 * All are in sentences*.c, and none is made elsewhere. An action tells a stranger what to do: it
 * begins with a verb.
 */
#ifndef MPMSTAT_SENTENCES_H
#define MPMSTAT_SENTENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/bottleneck.h"
#include "findings/budget.h"
#include "findings/cpu.h"
#include "findings/holder.h"
#include "findings/outage.h"
#include "findings/plan.h"

/* ---- failed ------------------------------------------------------------------------------- */

/* All answers with a status of a range, and what most of them have in common. */
struct mst_answers {
    uint64_t all, most, status;    /* most: those with this status, label and end */
    uint64_t took_ns;              /* the mean of these */
    char     label[64], end[128];
};
void mst_say_answers(struct mst_finding *f, const struct mst_budget *b,
                     const struct mst_answers *a);
void mst_say_down(struct mst_finding *f, const struct mst_outage *o);
void mst_say_lengths(struct mst_finding *f, const struct mst_summary_client *c);
/* most: they are nearly all answers; else the load tool followed them. */
void mst_say_redirects(struct mst_finding *f, const struct mst_budget *b, bool most,
                       uint64_t status, const char *label, const char *end);
void mst_say_aborts(struct mst_finding *f, const struct mst_budget *b, uint64_t aborted);

/* Requests of the load tool without an answer, by what it says of the reason. */
#define MST_WORDS_MAX 120u
struct mst_unanswered {
    uint64_t made, requests;                   /* all of its, and those */
    uint64_t connect, receive, timeout, other, unknown;
    uint64_t completed;                        /* of `unknown`: the servers completed as many */
    char     words[MST_WORDS_MAX];             /* its own; "": it has none */
};
void mst_say_unanswered(struct mst_finding *f, const struct mst_summary *s,
                        const struct mst_unanswered *u);
void mst_say_no_answer(struct mst_finding *f, const struct mst_summary *s);
void mst_say_cut_short(struct mst_finding *f, const struct mst_summary *s, const char *words);
void mst_say_deaths(struct mst_finding *f, const struct mst_summary_server *server, uint64_t n,
                    uint64_t killed);
void mst_say_fatal(struct mst_finding *f, const struct mst_summary_server *php);
/* `anew` is true where the server was stopped and started, `ended_some` where a reload of FPM ended
 * requests. */
void mst_say_restarts(struct mst_finding *f, const struct mst_budget *b,
                      const struct mst_summary_server *server, bool anew, bool ended_some);
/* Adds how many children of the generation before kept their slots, and for how long at most. */
void mst_say_old_children(struct mst_finding *f, uint64_t children, uint64_t longest_ns);

/* ---- ran out ------------------------------------------------------------------------------ */

void mst_say_apache_workers(struct mst_finding *f, const struct mst_budget *b);
void mst_say_php_workers(struct mst_finding *f, const struct mst_budget *b);
void mst_say_pool(struct mst_finding *f, const struct mst_budget *b,
                  const struct mst_summary_pool *pool);
/* Adds how long a worker went on after an answer. */
void mst_say_work_after_answers(struct mst_finding *f, const struct mst_summary_server *php,
                                uint64_t mean_ns);
void mst_say_php_in_uploads(struct mst_finding *f, const struct mst_budget *b);
void mst_say_php_workers_late(struct mst_finding *f, const struct mst_summary_server *php);
/* Of a PHP whose php_wait is not known. */
void mst_say_php_queued(struct mst_finding *f, const struct mst_summary_server *php);
/* condition: "without this wait ", or "": what the action of the finding says. */
void mst_say_foreseen(struct mst_finding *f, const char *condition,
                      const struct mst_foreseen *foreseen);
/* Action and prediction of a finding that workers ran out. */
void mst_say_plan(struct mst_finding *f, const struct mst_workers_plan *plan,
                  const char *directive);
void mst_say_below_limit(struct mst_finding *f, const struct mst_budget *b);
/* in_apache: they had not come to PHP. */
void mst_say_php_below_limit(struct mst_finding *f, const struct mst_budget *b, bool forked,
                             bool in_apache);
void mst_say_cgi_processes(struct mst_finding *f);
/* forked: processes were started meanwhile. */
void mst_say_fcgid_waits(struct mst_finding *f, const struct mst_budget *b, bool forked);
/* Both are means of workers, in thousandths: those with a connection, those with a request. */
void mst_say_php_connections(struct mst_finding *f, const struct mst_budget *b,
                             uint64_t connections_milli, uint64_t busy_milli);
void mst_say_short_waits(struct mst_finding *f, const struct mst_budget *b);
void mst_say_php_queue(struct mst_finding *f, const struct mst_budget *b);
void mst_say_accept_queue(struct mst_finding *f, const struct mst_budget *b);
void mst_say_h2_workers(struct mst_finding *f, const struct mst_budget *b);
void mst_say_killed(struct mst_finding *f, const struct mst_budget *b,
                    const struct mst_memory_shortage *found);
void mst_say_memory_short(struct mst_finding *f, const struct mst_summary *s, bool of_groups,
                          uint64_t stall_ns, bool for_files);
void mst_say_cpu(struct mst_finding *f, const struct mst_budget *b, bool full);
/* The same two by what the requests tell. */
void mst_say_cpu_by_requests(struct mst_finding *f, const struct mst_budget *b,
                             const struct mst_cpu_seen *seen, bool ours);
/* cpus: that the server may use; busy_milli: their part that it used. */
void mst_say_pinned(struct mst_finding *f, const struct mst_budget *b,
                    const struct mst_summary_server *server, uint64_t cpus, uint64_t busy_milli);
void mst_say_cpu_neighbour(struct mst_finding *f, const struct mst_budget *b);
void mst_say_stolen(struct mst_finding *f, const struct mst_summary *s);
void mst_say_quota(struct mst_finding *f, const struct mst_summary *s,
                   const struct mst_summary_server *throttled, bool certain);
void mst_say_disk(struct mst_finding *f, const struct mst_summary *s, bool of_group,
                  uint64_t stall_ns, const struct mst_disk_use *use);
void mst_say_descriptors(struct mst_finding *f, const struct mst_summary_server *server);
void mst_say_ports(struct mst_finding *f, const struct mst_summary_port *port);
void mst_say_generator(struct mst_finding *f, const struct mst_budget *b);
void mst_say_idle_server(struct mst_finding *f, const struct mst_budget *b, uint64_t idle_milli,
                         uint64_t used_milli);

/* ---- held workers -------------------------------------------------------------------------- */

void mst_say_keepalive(struct mst_finding *f, const struct mst_budget *b);
void mst_say_sending(struct mst_finding *f, const struct mst_budget *b, uint64_t part_ns);
void mst_say_slow_sending(struct mst_finding *f, const struct mst_budget *b);
void mst_say_late_delivery(struct mst_finding *f, const struct mst_budget *b);
void mst_say_uploads(struct mst_finding *f, const struct mst_budget *b);
void mst_say_headers(struct mst_finding *f, const struct mst_budget *b);
void mst_say_holder(struct mst_finding *f, const struct mst_holders *holders,
                    uint64_t of_time_milli, uint64_t of_requests_milli);
void mst_say_stuck(struct mst_finding *f, const struct mst_summary_server *server);
/* The requests that began before the first answer, and their parts. */
struct mst_cold { uint64_t late_ns, requests, total_ns, parts_ns[MST_PART_COUNT]; };
void mst_say_cold_start(struct mst_finding *f, const struct mst_cold *cold);
/* A process that was stopped ('T', 't': by a debugger) or waited uninterruptibly ('D'), seen so
 * from one instant to the other, and the requests that it had and that have ended. */
struct mst_halted { uint64_t pid, since_ns, until_ns, requests; char state; bool is_php; };
void mst_say_halted(struct mst_finding *f, const struct mst_halted *halted);
void mst_say_churn(struct mst_finding *f, const struct mst_summary_server *server);

/* ---- waited for ---------------------------------------------------------------------------- */

void mst_say_wait(struct mst_finding *f, const struct mst_budget *b, enum mst_wait wait,
                  const struct mst_summary_end *end, enum mst_answer one_by_one);
void mst_say_after_php(struct mst_finding *f, const struct mst_budget *b, uint64_t ns);
void mst_say_backend(struct mst_finding *f, const struct mst_budget *b, uint64_t ns,
                     const struct mst_summary_end *end, enum mst_answer one_by_one);
/* What to do, for findings that explain makes, too. */
#define MST_KEEPALIVE_ACTION \
    "Set a short KeepAliveTimeout, or use the event MPM with PHP-FPM (mod_php needs prefork), " \
    "which needs no worker for an idle connection; or have more workers."
void mst_advise_uploads(struct mst_finding *f);
void mst_advise_connections(struct mst_finding *f);
/* Of a wait for the server itself: what that means, and another action. */
void mst_say_own_end(struct mst_finding *f, const char *end);
/* Of what lets in one request at a time: adds that, and sets another action. */
void mst_say_serial(struct mst_finding *f);
/* Adds to the text of either whose requests waited: h stands out. */
void mst_say_whose(struct mst_finding *f, const struct mst_holder *h);
/* A time in which PHP stood still. */
struct mst_stall {
    uint64_t from_ns, until_ns;    /* instants */
    uint64_t requests;             /* that waited */
    char     kind[16], end[MST_NAME_MAX];
    uint64_t of_page;              /* those of `page`, more than half of them; 0: of no page */
    char     page[128];             /* as in struct mst_holder */
};
void mst_say_stall(struct mst_finding *f, const struct mst_stall *stall);
/* Adds to the action in which script to begin: h has most of the time. */
void mst_say_script(struct mst_finding *f, const struct mst_holder *h);
/* checks, tls */
void mst_say_own(struct mst_finding *f, const struct mst_budget *b, uint64_t ns);
void mst_say_logging(struct mst_finding *f, const struct mst_budget *b);
void mst_say_compiling(struct mst_finding *f, const struct mst_budget *b);
/* kernel_milli: the kernel's part of the CPU time, or MST_UNKNOWN. */
/* "; use OPcache", or "": it is on. */
const char *mst_or_opcache(const struct mst_summary_server *php);
void mst_say_computing(struct mst_finding *f, const struct mst_budget *b, uint64_t kernel_milli);
void mst_say_unseen(struct mst_finding *f, const struct mst_budget *b, uint64_t ns);

/* ---- around -------------------------------------------------------------------------------- */

enum mst_in_common {
    MST_COMMON_NONE, MST_COMMON_PAGE, MST_COMMON_LABEL, MST_COMMON_FIRST, MST_COMMON_UNCACHED,
    MST_COMMON_SECOND, MST_COMMON_PROCESS
};
struct mst_slow_tail {
    const struct mst_summary_server *server;
    uint64_t median_ns, border_ns;          /* slow: longer than the border */
    uint64_t slow, excess_ns;               /* what they took beyond the median */
    enum mst_part part;                     /* that has most of it */
    char     wait[16], wait_end[MST_NAME_MAX];   /* of PHP, where the part is that; "" */
    uint64_t kernel_milli;   /* of the CPU time, where the part is that; else MST_UNKNOWN */
    enum mst_in_common common;
    char     value[96];                     /* the label, script, second or process */
    uint64_t common_slow_milli, common_all_milli;
};

void mst_say_tail(struct mst_finding *f, const struct mst_budget *b, const struct mst_slow_tail *t);
void mst_say_beyond(struct mst_finding *f, const struct mst_budget *b, uint64_t apart_ns);
/* In what a server can differ from its peers. */
enum mst_odd {
    MST_ODD_LIMIT, MST_ODD_TIME, MST_ODD_WAIT, MST_ODD_BUSY, MST_ODD_ERRORS, MST_ODD_COUNT
};
/* Whose finding it is: f->servers of `servers` have it, f->server the most of it; `other` is the
 * second of two. Of several with the same action, that needs no name. */
void mst_say_servers(struct mst_finding *f, const char *other, size_t servers, bool same_action);
void mst_say_odd(struct mst_finding *f, const struct mst_summary_server *server, size_t peers);
/* Adds one of these to the text. */
void mst_say_odd_in(struct mst_finding *f, const struct mst_summary_server *server,
                    enum mst_odd which, uint64_t value, uint64_t usual);
void mst_say_nothing(struct mst_finding *f, const struct mst_budget *b);
/* Adds when it was, where that fits. */
void mst_say_when(struct mst_finding *f, const struct mst_summary *s);
/* What a finding is as the consequence of another one, in a few words: "PHP's workers ran out". "":
 * it needs no mention. */
#define MST_CONSEQUENCE_MAX 128u
void mst_say_consequence(char text[MST_CONSEQUENCE_MAX], const struct mst_finding *f);
void mst_say_obstacle(struct mst_finding *f, const struct mst_summary *s, const char *why);

#endif

/* verdict_text.h - the verdict's sentences. Each function writes one into s->verdict; verdict.c
 * says when. */
#ifndef MPMSTAT_VERDICT_TEXT_H
#define MPMSTAT_VERDICT_TEXT_H

#include "analysis/bottleneck.h"
#include "analysis/summary.h"

void mst_say_workers(struct mst_summary *s, const struct mst_summary_server *server,
                     bool cpu_bound);
void mst_say_keepalive(struct mst_summary *s, const struct mst_summary_server *server);
void mst_say_php_workers(struct mst_summary *s, const struct mst_summary_server *server,
                         const struct mst_summary_server *php, bool cpu_bound);
void mst_say_php_below_limit(struct mst_summary *s, const struct mst_summary_server *server,
                             const struct mst_summary_server *php);
void mst_say_cpu(struct mst_summary *s, const struct mst_summary_server *server);
void mst_say_slow_clients(struct mst_summary *s, const struct mst_summary_server *server);
void mst_say_nothing_ran_out(struct mst_summary *s, const struct mst_summary_server *server);
void mst_say_waited_below_limit(struct mst_summary *s, const struct mst_summary_server *server);
void mst_say_short_waits(struct mst_summary *s, const struct mst_summary_server *server);
void mst_say_killed(struct mst_summary *s, const struct mst_summary_server *server,
                    const struct mst_memory_shortage *found);
void mst_say_memory_short(struct mst_summary *s, const struct mst_memory_shortage *found);
void mst_say_throttled(struct mst_summary *s, const struct mst_summary_server *throttled);
void mst_say_perhaps_throttled(struct mst_summary *s,
                               const struct mst_summary_server *throttled);
void mst_say_generator(struct mst_summary *s);
void mst_say_accept_queue(struct mst_summary *s);
void mst_say_cannot_tell(struct mst_summary *s, const char *why);

#endif

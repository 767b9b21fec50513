/* change.h - changes of a recorded system, as a user names them. */
#ifndef MPMSTAT_MODEL_CHANGE_H
#define MPMSTAT_MODEL_CHANGE_H

#include "model/recorded.h"

/* A copy that can be changed; the requests are shared. */
struct mst_system mst_system_copy(const struct mst_model_run *r);

/* Of several servers, settings are those of the run's view: of one, or of all of them; the load is
 * the one of all, and CPUs and ends are everybody's.
 *
 * Each of these returns NULL, or why it cannot be: a sentence without its end, in the pool.
 *
 * --set: "MaxRequestWorkers=300", "pm.max_children=20", of several pools "www:pm.max_children=20",
 * "mpm=event", "KeepAlive=Off", "KeepAliveTimeout=2". */
const char *mst_change_setting(struct mst_system *s, const struct mst_model_run *r,
                               const char *text);
/* --load: "x2": so many times the clients, or the rate. */
const char *mst_change_load(struct mst_system *s, const struct mst_model_run *r, const char *text);
/* --clients: so many at a time. */
const char *mst_change_clients(struct mst_system *s, const struct mst_model_run *r,
                               const char *text);
/* --rate: "200/s": requests that come by themselves, at random. */
const char *mst_change_rate(struct mst_system *s, const struct mst_model_run *r, const char *text);
/* --cpus: so many instead of the recorded number. */
const char *mst_change_cpus(struct mst_system *s, const struct mst_model_run *r, const char *text);
/* --end: "database mysql 127.0.0.1:3306=x0.5", "database=x0.5": so many times its time. */
const char *mst_change_end(struct mst_system *s, const struct mst_model_run *r, const char *text);
/* --without: "lock", "database mysql 127.0.0.1:3306": nothing waits for it. */
const char *mst_change_without(struct mst_system *s, const struct mst_model_run *r,
                               const char *text);

#endif

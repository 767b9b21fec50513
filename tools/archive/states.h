/* states.h - what an archive says in words of a fixed set, as numbers: how a run ended, what a
 * server is, when a sample was taken, how far a step of a study is.
 *
 * An archive has the words; they are turned into numbers where a row is read, and back where one
 * is written or shown.
 */
#ifndef MPMSTAT_STATES_H
#define MPMSTAT_STATES_H

#include "segment/format.h"
#include "system/ownership.h"

/* runs.outcome. The first stands until a run has ended. */
#define MST_OUTCOMES(X) \
    X(UNFINISHED, "unfinished") X(COMPLETE, "complete") X(FAILED, "failed") \
    X(TIMEOUT, "timeout") X(INTERRUPTED, "interrupted")
/* samples.moment and machine_samples.moment. */
#define MST_MOMENTS(X) \
    X(BEFORE, "before") X(DURING, "during") X(END, "end") X(AFTER, "after")
/* steps.state. */
#define MST_STEP_STATES(X) \
    X(PLANNED, "planned") X(RUNNING, "running") X(DONE, "done") X(FAILED, "failed") \
    X(SKIPPED, "skipped")

#define MST_X_OUTCOME(id, name) MST_OUTCOME_##id,
#define MST_X_MOMENT(id, name)  MST_MOMENT_##id,
#define MST_X_STEP(id, name)    MST_STEP_STATE_##id,
enum mst_outcome    { MST_OUTCOMES(MST_X_OUTCOME) MST_OUTCOME_COUNT };
enum mst_moment     { MST_MOMENTS(MST_X_MOMENT) MST_MOMENT_COUNT };
enum mst_step_state { MST_STEP_STATES(MST_X_STEP) MST_STEP_STATE_COUNT };

extern const char *const mst_outcome_names[MST_OUTCOME_COUNT];
extern const char *const mst_moment_names[MST_MOMENT_COUNT];
extern const char *const mst_step_state_names[MST_STEP_STATE_COUNT];

/* servers.producer, of an enum mst_producer. */
const char *mst_producer_name(enum mst_producer producer);

/* The number of a server among those of its kind, from 1, makes "apache", "php2": the names in the
 * environment begin with it. */
#define MST_PREFIX_MAX 32u
void mst_server_prefix(char prefix[MST_PREFIX_MAX], enum mst_producer producer, size_t nth);

/* Which of the words it is. Where it is none of them (NULL also), which only a damaged archive
 * has: an interrupted run, an Apache, a step that is still planned. */
enum mst_outcome    mst_outcome_of(const char *word);
enum mst_producer   mst_producer_of(const char *word);
enum mst_step_state mst_step_state_of(const char *word);

/* programs.owner; MST_PROC_OWNER_COUNT where it is none of the words (NULL: older archives). */
enum mst_proc_owner mst_proc_owner_of(const char *word);

/* servers.sapi has PHP's own word, of which two tell what owns the workers. php-cgi says the same
 * under everything; its run tells the rest (analysis/read_php_cgi.c). */
enum mst_sapi {
    MST_SAPI_OTHER,
    MST_SAPI_MOD_PHP,
    MST_SAPI_FPM,
    MST_SAPI_FCGID,   /* php-cgi that mod_fcgid starts and keeps */
    MST_SAPI_CGI      /* php-cgi that is started for each request */
};
enum mst_sapi mst_sapi_of(const char *word);

#endif

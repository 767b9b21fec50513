/* writer.h - writing an archive: what `mpmstat record` and the lab put into it.
 *
 * Rows are committed in batches, about every MST_ARCHIVE_BATCH_NS, so that a recording killed at
 * any moment leaves a readable archive with everything but the last batch, whose run says that
 * it is not complete.
 */
#ifndef MPMSTAT_ARCHIVE_WRITER_H
#define MPMSTAT_ARCHIVE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "archive/archive.h"
#include "archive/states.h"
#include "loadtools/loadtool.h"
#include "source/source.h"
#include "system/cgroup.h"
#include "system/machine.h"
#include "system/ownership.h"
#include "system/ports.h"
#include "system/proc.h"

#define MST_ARCHIVE_BATCH_NS UINT64_C(250000000)
#define MST_ARCHIVE_PATIENCE_NS UINT64_C(30000000000)   /* for readers, where it has to be now */

/* Called with a sentence for the user: that other programs keep the archive from being written;
 * a warning, that it had to be left as two files. */
typedef void mst_archive_tell(bool is_warning, const char *sentence);

/* Opens the archive at `path` for writing, or makes it where there is nothing (or an empty
 * file); one of an earlier version becomes one of this. tell can be NULL. Returns NULL with a
 * sentence where it is not an archive, not writable, being written by another program, or of a
 * later version. */
struct mst_archive *mst_archive_create(const char *path, mst_archive_tell *tell,
                                       char error[MST_ERROR_MAX]);

/* Makes an archive in memory, which ends with mst_archive_close(). NULL with a sentence. */
struct mst_archive *mst_archive_in_memory(char error[MST_ERROR_MAX]);

/* Commits the batch if it is old enough; now_ns is CLOCK_MONOTONIC. It does not wait: while a
 * reader keeps the batch from being committed (only on file systems that cannot share memory),
 * the batch grows. */
int mst_archive_tick(struct mst_archive *a, uint64_t now_ns);
/* The same, however old the batch is: before something that may take long. */
int mst_archive_offer(struct mst_archive *a);
/* Commits the batch, waiting for readers if need be. */
int mst_archive_commit(struct mst_archive *a);
/* Removes what was added since the last commit. */
int mst_archive_undo(struct mst_archive *a);

/* ---- what a recording writes; 0, or -1: mst_archive_error() ---------------------- */

struct mst_archive_run {
    const char  *name;           /* NULL: none */
    char *const *argv;           /* as executed; NULL: no command */
    const char  *added, *tool;   /* NULL: nothing; no command */
    uint64_t     started_ns;
    uint64_t     tool_threads;
    uint64_t     repetition;     /* from 1; 0: it is not repeated */
    const char  *recording;      /* of several archives; NULL: of this one */
    uint64_t     part;           /* from 1 */
};

struct mst_archive_run_end {
    enum mst_outcome outcome;    /* UNFINISHED: not yet known */
    bool        complete;
    uint64_t    started_ns, ended_ns, duration_ns;
    uint64_t    exit_status, exit_signal, tool_cpu_ns, memory_cost_ns, recorder_cpu_ns;
};

/* Inserts the run and commits it at once. */
int mst_archive_begin_run(struct mst_archive *a, const struct mst_archive_run *run,
                          int64_t *run_id);
/* The load begins now: its start is known better than when the run was inserted. */
int mst_archive_started(struct mst_archive *a, int64_t run_id, uint64_t started_ns);
/* Ends the run, commits, and asks the system to put all of it on the disk. */
int mst_archive_end_run(struct mst_archive *a, int64_t run_id,
                        const struct mst_archive_run_end *end);

int mst_archive_add_server(struct mst_archive *a, int64_t run_id, const char *target, bool local,
                           const struct mst_source_identity *identity, int64_t *server_id);

/* Its name in the file of targets. */
int mst_archive_name_server(struct mst_archive *a, int64_t server_id, const char *name);

/* The offset of its clock, which has been taken off its instants. */
int mst_archive_clock_server(struct mst_archive *a, int64_t server_id,
                             const struct mst_clock_offset *offset);

struct mst_archive_server_end {
    uint64_t    lost, restarts, cpu_ns;
    const char *unknown;         /* NULL: all is known */
    const char *listens;         /* a sample's; NULL: not known */
    struct mst_cgroup cgroup;    /* its counters: of the load */
};
int mst_archive_end_server(struct mst_archive *a, int64_t server_id,
                           const struct mst_archive_server_end *end);

/* Adds what a server tells of its settings to the environment ("apache_settings" where the prefix
 * is "apache"); and what its files of configuration say, where its processes are seen here and the
 * files can be read. */
int mst_archive_add_config(struct mst_archive *a, int64_t run_id, int64_t server_id,
                           const char *prefix, const struct mst_source_identity *server, bool here);

int mst_archive_add_request(struct mst_archive *a, int64_t server_id,
                            const struct mst_request *request,
                            const struct mst_record_names *names, uint64_t wall_start_ns,
                            uint64_t key, bool ghost);
/* To the request of that delivery; *found: it is there. */
int mst_archive_add_delivery(struct mst_archive *a, int64_t server_id,
                             const struct mst_delivery *delivery, uint64_t key, bool *found);
int mst_archive_add_php_request(struct mst_archive *a, int64_t server_id,
                                const struct mst_php_request *request,
                                const struct mst_record_names *names, uint64_t wall_start_ns,
                                uint64_t key, bool ghost);
int mst_archive_add_mark(struct mst_archive *a, int64_t server_id, const struct mst_mark *mark,
                         uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key);
/* Of PHP's code: ids are the source's. */
int mst_archive_add_frame(struct mst_archive *a, int64_t server_id, uint64_t id,
                          const struct mst_frame *frame);
int mst_archive_add_stack(struct mst_archive *a, int64_t server_id, uint64_t id,
                          uint64_t caller_id, uint64_t frame_id);
int mst_archive_add_php_sample(struct mst_archive *a, int64_t server_id,
                               const struct mst_code_sample *sample, uint64_t stack_id,
                               uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key);
/* A sample's; nothing where its state is not known. */
int mst_archive_add_opcache(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                            const struct mst_opcache *opcache);
int mst_archive_add_lifecycle(struct mst_archive *a, int64_t server_id,
                              const struct mst_lifecycle *event, uint64_t wall_ns, uint64_t key);
/* That the server's parent does not run: was stopped then, or ended after that. */
int mst_archive_add_stop(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                         bool was_stopped);
int mst_archive_add_sample(struct mst_archive *a, int64_t server_id, enum mst_moment moment,
                           const struct mst_sample *sample, const struct mst_cgroup_use *use);
int mst_archive_add_pools(struct mst_archive *a, int64_t server_id, enum mst_moment moment,
                          const struct mst_sample *sample);
/* Addresses that have less than a hundredth of the ports are left out. */
int mst_archive_add_ports(struct mst_archive *a, int64_t run_id, uint64_t wall_ns,
                          const struct mst_ports *ports);
int mst_archive_add_end(struct mst_archive *a, int64_t server_id,
                        const struct mst_sample_end *end);
int mst_archive_add_process(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                            const struct mst_proc *process, uint64_t cost_ns);
int mst_archive_add_memory(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                           uint64_t began_ns, uint64_t processes, uint64_t pss_bytes,
                           uint64_t cost_ns, uint64_t rss_bytes);
int mst_archive_add_machine(struct mst_archive *a, int64_t run_id, uint64_t wall_ns,
                            enum mst_moment moment, const struct mst_machine *machine);
int mst_archive_add_program(struct mst_archive *a, int64_t run_id, const char *name,
                            enum mst_proc_owner owner, uint64_t cpu_ns, uint64_t disk_bytes);
int mst_archive_add_client_result(struct mst_archive *a, int64_t run_id,
                                  const struct mst_client_result *result,
                                  const struct mst_plan *plan);
int mst_archive_add_client_row(struct mst_archive *a, int64_t run_id,
                               const struct mst_client_row *row);
/* The same for a generator that has been added. */
int mst_archive_add_generator_row(struct mst_archive *a, int64_t run_id, int64_t generator_id,
                                  const struct mst_client_row *row);
/* A load generator whose requests come from a file of its own. */
struct mst_archive_generator {
    const char *name, *tool;
    uint64_t    file_hash;
    const struct mst_row_totals *totals;
    struct mst_rows_said said;
    bool        clock_known;
    int64_t     clock_ahead_ns;      /* of the server's; 0 where it is not known */
    uint64_t    clock_uncertainty_ns, fitting_milli;
};
int mst_archive_add_generator(struct mst_archive *a, int64_t run_id,
                              const struct mst_archive_generator *generator,
                              int64_t *generator_id);
/* The results of all generators take the place of those of the command. */
int mst_archive_replace_client_result(struct mst_archive *a, int64_t run_id, const char *tool,
                                      const struct mst_client_result *result,
                                      const struct mst_plan *plan);
int mst_archive_add_environment(struct mst_archive *a, int64_t run_id, const char *name,
                                const char *value);
/* content: the end of what was printed, n of `bytes` bytes. */
int mst_archive_add_output(struct mst_archive *a, int64_t run_id, const char *stream,
                           uint64_t bytes, const void *content, size_t n);
/* What was found in a run that has ended; earlier findings are cleared first. */
int mst_archive_clear_findings(struct mst_archive *a, int64_t run_id);
struct mst_archive_finding {
    uint64_t    rank;            /* from 1 */
    const char *code, *certainty;
    const char *subject;         /* NULL: the server */
    uint64_t    share_milli, requests;   /* MST_UNKNOWN: none */
    const char *text;
    const char *action, *predicted;      /* NULL: none */
    const char *caused_by, *caused_by_subject;   /* code and subject; NULL: none */
};
int mst_archive_add_finding(struct mst_archive *a, int64_t run_id,
                            const struct mst_archive_finding *finding);

/* What is predicted for a change: its row of one measure, and its settings. */
struct mst_archive_prediction {
    uint64_t    number;          /* of the change, from 1 */
    const char *code;
    uint64_t    clients, load_per_1000s;   /* one of them MST_UNKNOWN */
    bool        by_client;
    const char *measure;
    uint64_t    predicted, low, high;
};
int mst_archive_add_prediction(struct mst_archive *a, int64_t run_id,
                               const struct mst_archive_prediction *prediction);
/* section NULL or "": none. */
int mst_archive_add_predicted_setting(struct mst_archive *a, int64_t run_id, uint64_t number,
                                      const char *section, const char *name, const char *value);
/* Removes all rows of a change. */
int mst_archive_clear_prediction(struct mst_archive *a, int64_t run_id, uint64_t number);

int mst_archive_add_note(struct mst_archive *a, int64_t run_id, uint64_t wall_ns, const char *text);

/* ---- what the lab writes of a study; as above ------------------------------------- */

struct mst_archive_study {
    const char *name, *title, *size, *only;      /* only NULL: all stacks */
    const char *directory;                       /* of the study's file; NULL: none */
    const char *text;
    uint64_t    seed, started_ns;
};
/* Neither of these two commits. */
int mst_archive_begin_study(struct mst_archive *a, const struct mst_archive_study *study,
                            int64_t *study_id);
int mst_archive_add_study_file(struct mst_archive *a, int64_t study_id, const char *kind,
                               const char *name, const char *text);

struct mst_archive_step {
    uint64_t    ordinal, block, repetition, start;
    const char *runs, *stack, *workload, *load, *parameters;
};
/* Nor does this; the others do. */
int mst_archive_add_step(struct mst_archive *a, int64_t study_id,
                         const struct mst_archive_step *step);
int mst_archive_begin_step(struct mst_archive *a, int64_t study_id, uint64_t ordinal,
                           uint64_t now_ns);

struct mst_archive_step_end {
    enum mst_step_state state;   /* DONE, FAILED, SKIPPED, or PLANNED again */
    uint64_t    run_id;          /* MST_UNKNOWN: none */
    const char *failure;         /* NULL: none */
    uint64_t    page_bytes, ended_ns, warmup_ns;
    const char *load;            /* the command as it was run; NULL: as it is there already */
};
int mst_archive_end_step(struct mst_archive *a, int64_t study_id, uint64_t ordinal,
                         const struct mst_archive_step_end *end);
int mst_archive_end_study(struct mst_archive *a, int64_t study_id, uint64_t now_ns);
/* One more interruption. */
int mst_archive_interrupt_study(struct mst_archive *a, int64_t study_id);
/* Makes steps that a killed mpmstat left running planned again. */
int mst_archive_replan_steps(struct mst_archive *a, int64_t study_id, bool *any);

#endif

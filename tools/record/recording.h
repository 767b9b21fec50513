/* recording.h - one run: a load tool, the servers it loads, the archive of both. */
#ifndef MPMSTAT_RECORDING_H
#define MPMSTAT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/rotation.h"
#include "source/target.h"

struct mst_recording_options {
    const char  *archive;         /* the path; not used where there is a rotation */
    const struct mst_rotation *rotation;   /* without a command: archive after archive; NULL: one */
    const char  *name;            /* of the run; NULL none */
    unsigned     repetition;      /* of the same, from 1; 0: there is only this one */
    bool         until_decided;   /* as many as it takes to decide: the archive says so */
    struct mst_target_names targets;   /* as on the command line */
    char *const *command;         /* NULL at its end; NULL: none, until interrupted */
    char *const *environment;     /* the command's, NULL at its end; NULL: mpmstat's own */
    uint64_t     timeout_ns;      /* 0: the adapter's, or else MST_RECORDING_TIMEOUT_NS */
    /* End the load when its rate has been steady for as long, at the latest after the longest time:
     * the run is complete then. 0: the load ends by itself. */
    uint64_t     steady_ns, longest_ns;
    bool         warm_up;         /* it has been steady for that time lately, however it began */
    bool         add_flags;       /* let the adapter add flags to the command */
    bool         memory;          /* read the servers' memory */
    bool         verbose;         /* show the load tool's output as it comes */
    const char  *progress;        /* show a line on a terminal meanwhile, which begins with this;
                                   * NULL: none */
    /* Called ten times a second meanwhile; false: stop the load, it has failed. NULL: not. */
    bool       (*tick)(void *context);
    void        *context;
};

/* Records, and says on stderr what goes wrong. Returns an enum mst_exit; *run_id
 * is 0 where there is no run in the archive; with a rotation it is the last archive's.
 * Nothing of the command is left
 * running. Handles SIGINT, SIGTERM and SIGHUP while it runs. */
int mst_record(const struct mst_recording_options *options, int64_t *run_id);

#endif

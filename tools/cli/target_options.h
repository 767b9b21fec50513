/* target_options.h - the options of the verbs that take targets: which, and what URLs are asked
 * with.
 */
#ifndef MPMSTAT_TARGET_OPTIONS_H
#define MPMSTAT_TARGET_OPTIONS_H

#include "console/options.h"
#include "source/target.h"

/* Takes one of --targets, --ca-file and --token-file; false: it is another. */
static inline bool mst_target_option(struct mst_target_names *names, int option,
                                     const char *argument)
{
    switch (option) {
    case MST_OPTION_TARGETS:    names->file = argument; return true;
    case MST_OPTION_CA_FILE:    names->ca_file = argument; return true;
    case MST_OPTION_TOKEN_FILE: names->token_file = argument; return true;
    default:                    return false;
    }
}

#endif

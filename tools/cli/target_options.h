/* target_options.h - the options of the verbs that take targets: which, and what URLs are asked
 * with.
 */
#ifndef MPMSTAT_TARGET_OPTIONS_H
#define MPMSTAT_TARGET_OPTIONS_H

#include <getopt.h>

#include "source/target.h"

enum {
    MST_OPTION_TARGETS = 256, MST_OPTION_CA_FILE, MST_OPTION_TOKEN_FILE
};

/* For a table of getopt_long(). */
#define MST_TARGET_OPTIONS \
    { "targets", required_argument, NULL, MST_OPTION_TARGETS }, \
    { "ca-file", required_argument, NULL, MST_OPTION_CA_FILE }, \
    { "token-file", required_argument, NULL, MST_OPTION_TOKEN_FILE }

/* Takes one of these; false: it is none of them. */
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

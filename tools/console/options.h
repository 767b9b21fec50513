/* options.h - the options of mpmstat's verbs, by numbers.
 *
 * A verb's help text lists its options, and is their only table: options.awk makes of it what
 * getopt_long() takes, `options` and MST_LETTERS, in a file beside it with the suffix .opt.
 * Completions and docs/reference/cli.md come from the same text; a test compares the man pages.
 */
#ifndef MPMSTAT_OPTIONS_H
#define MPMSTAT_OPTIONS_H

#include <getopt.h>

/* A letter's code where one of the texts gives the option a letter. */
enum mst_option {
#include "tools/console/options.inc"
};

#endif

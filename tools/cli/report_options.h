/* report_options.h - the command line of mpmstat report. */
#ifndef MPMSTAT_REPORT_OPTIONS_H
#define MPMSTAT_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/exit_by_finding.h"
#include "console/style.h"

enum mst_report_format {
    MST_REPORT_HTML, MST_REPORT_MD, MST_REPORT_CSV, MST_REPORT_JSON, MST_REPORT_TEXT,
    MST_REPORT_FOLDED, MST_REPORT_SPEEDSCOPE, MST_REPORT_PPROF,   /* of PHP's code */
    MST_REPORT_FORMATS
};

struct mst_report_selected {
    const char *run;             /* number or name */
    bool        found;           /* in an archive */
};

struct mst_report_options {
    enum mst_report_format format;
    bool              series, trend, help;
    struct mst_fail_on fail_on;
    unsigned          percentiles;
    enum mst_colour   colour;
    const char       *output;    /* NULL: stdout */
    struct mst_report_selected *selected;   /* --run; the caller has room for argc of them */
    size_t            selected_count;
    char            **files;
    int               file_count;
    uint64_t          from_ns, to_ns;   /* to 0: all */
};

/* Returns an enum mst_exit; what is wrong has been said. With --help nothing else is read. */
int mst_report_options_read(struct mst_report_options *o, int argc, char **argv);

#endif

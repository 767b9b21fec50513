/* percentiles.h - --percentiles LIST, for the verbs that print a run's text. */
#ifndef MPMSTAT_CLI_PERCENTILES_H
#define MPMSTAT_CLI_PERCENTILES_H

/* Reads the option's argument, "50,95,99.9", into a set as mst_report_text() takes it. Returns an
 * enum mst_exit. */
int mst_percentiles_read(unsigned *percentiles, const char *verb, const char *argument);

#endif

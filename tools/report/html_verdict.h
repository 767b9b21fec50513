/* html_verdict.h - what was found, as HTML: the verdict of a name's runs, its findings with the
 * figures that they rest on, and whether to believe them. */
#ifndef MPMSTAT_HTML_VERDICT_H
#define MPMSTAT_HTML_VERDICT_H

#include "report/groups.h"

/* A card: the verdict of the run that is shown, and a table of the repetitions, if any. */
void mst_html_verdict(struct mst_sink *sink, const struct mst_report *report,
                      const struct mst_report_groups *groups, const struct mst_report_group *group);

/* A finding with its evidence. */
void mst_html_finding(struct mst_sink *sink, const struct mst_finding *finding);

#endif

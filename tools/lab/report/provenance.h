/* provenance.h - what an archive tells of a study besides its cases, a query each. Columns are
 * taken by their names (archive/query.h).
 */
#ifndef MPMSTAT_LAB_PROVENANCE_H
#define MPMSTAT_LAB_PROVENANCE_H

#include "archive/query.h"
#include "lab/report/cases.h"

/* name, content: what all runs have in common once, else each value that some run had. */
struct mst_query mst_study_environment(const struct mst_study_data *data);
/* stack, server, mpm, sapi */
struct mst_query mst_study_recorded_servers(const struct mst_study_data *data);
/* command: each of the load tools' command lines once */
struct mst_query mst_study_commands(const struct mst_study_data *data);
/* kind, name, text: the stacks, workloads and other files that it was run from */
struct mst_query mst_study_files(const struct mst_study_data *data);

#endif

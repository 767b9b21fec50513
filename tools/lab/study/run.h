/* run.h - mpmstat lab run STUDY: from the command line to the study's report. */
#ifndef MPMSTAT_LAB_RUN_H
#define MPMSTAT_LAB_RUN_H

/* argv[0] is "run". Returns an enum mst_exit. */
int mst_lab_run(int argc, char **argv);

#endif

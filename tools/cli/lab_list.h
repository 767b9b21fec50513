/* lab_list.h - mpmstat lab list: the stacks, workloads and studies that there are. */
#ifndef MPMSTAT_LAB_LIST_H
#define MPMSTAT_LAB_LIST_H

/* argv[0] is "list". Returns an enum mst_exit. */
int mst_lab_list(int argc, char **argv);

#endif

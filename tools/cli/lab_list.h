/* lab_list.h - mpmstat lab list: the stacks, workloads and studies that there are. */
#ifndef MPMSTAT_LAB_LIST_H
#define MPMSTAT_LAB_LIST_H

#include <stdbool.h>

/* Returns an enum mst_exit. */
int mst_lab_list(bool json);

#endif

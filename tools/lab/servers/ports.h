/* ports.h - loopback ports that are a stack's from before its servers start to their end. */
#ifndef MPMSTAT_LAB_PORTS_H
#define MPMSTAT_LAB_PORTS_H

#include "lab/files/expand.h"
#include "lab/servers/site.h"

/* Holds the ports that are given as PORT, PORT_2, ..., and free ones in place of the others: their
 * numbers go to ports, sockets that keep them to held. 0, or -1 with a sentence. */
int mst_ports_hold(const struct mst_parameters *given, int held[MST_PORTS],
                   unsigned ports[MST_PORTS], char error[MST_ERROR_MAX]);
void mst_ports_release(const int held[MST_PORTS]);

#endif

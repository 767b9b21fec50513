/* fleet.h - findings of several servers that the load tool talks to: each is judged by its own
 * requests, and what several have in common is said once.
 */
#ifndef MPMSTAT_FLEET_H
#define MPMSTAT_FLEET_H

#include "findings/inquiry.h"

/* Of what a server's findings have a share: of the time of all requests, or of their number. */
enum mst_fleet_share { MST_FLEET_TIME, MST_FLEET_REQUESTS };

/* Calls a rule once for each server that the load was for, with that server's budget. A call sees
 * the run's findings and those that it adds itself, but not those of the other servers. With one
 * server the findings stay as the rule makes them. With several, each finding says whose it is, and
 * its weight and share become those of all servers together. */
void mst_for_each_front(struct mst_inquiry *q, enum mst_fleet_share share,
                        void (*rule)(struct mst_inquiry *q));

/* Where a finding says that a server is the odd one: puts the heaviest finding that this server
 * alone has, which is the cause, before it. */
void mst_fleet_causes_first(struct mst_summary *s);

#endif

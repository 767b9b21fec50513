/* fleet.h - findings of several servers that the load tool talks to: each is judged by its own
 * requests, and what several have in common is said once.
 */
#ifndef MPMSTAT_FLEET_H
#define MPMSTAT_FLEET_H

#include "findings/inquiry.h"

/* Of what a server's findings have a share: of the time of all requests, or of their number. */
enum mst_fleet_share { MST_FLEET_TIME, MST_FLEET_REQUESTS };

/* Calls a rule with the budget of each server in turn, which it has for itself: it meets the run's
 * findings and its own server's. Where the load tool talks to one server only, its findings stay
 * as they are. Of several each says whose it is, and its weight and share are those of the
 * fleet. */
void mst_for_each_front(struct mst_inquiry *q, enum mst_fleet_share share,
                        void (*rule)(struct mst_inquiry *q));

/* What one server only has, and makes it the odd one, comes before the finding that says so. */
void mst_fleet_causes_first(struct mst_summary *s);

#endif

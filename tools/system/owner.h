/* owner.h - the owner of a board, as messages call the user. */
#ifndef MPMSTAT_OWNER_H
#define MPMSTAT_OWNER_H

#include <sys/types.h>

#define MST_OWNER_MAX 96u

/* "alice (user 1001)", or "user 1001" where that user has no name here. */
struct mst_owner_name { char text[MST_OWNER_MAX]; };
struct mst_owner_name mst_owner_name(uid_t owner);

#endif

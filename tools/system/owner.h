/* owner.h - the owner of a board in words, and who may read it. */
#ifndef MPMSTAT_OWNER_H
#define MPMSTAT_OWNER_H

#include <sys/types.h>

#include "base/error.h"

#define MST_OWNER_MAX 96u

/* "alice (user 1001)", or "user 1001" where that user has no name here. */
struct mst_owner_name { char text[MST_OWNER_MAX]; };
struct mst_owner_name mst_owner_name(uid_t owner);

/* A sentence about a file or directory that this user may not read: who may, and how to. */
void mst_owner_say_closed(const char *path, char sentence[MST_ERROR_MAX]);

#endif

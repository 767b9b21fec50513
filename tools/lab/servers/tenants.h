/* tenants.h - users that exist for a stack's processes alone: mpmstat-a and mpmstat-b.
 *
 * They are in private copies of /etc/passwd and /etc/group, which a private mount namespace
 * shows in place of the system's; suexec's configuration and log directory likewise. What
 * runs outside sees none of it, and it ends with the last process inside.
 */
#ifndef MPMSTAT_LAB_TENANTS_H
#define MPMSTAT_LAB_TENANTS_H

#include <sys/types.h>

#include "base/error.h"

#define MST_TENANTS 2

extern const char *const mst_tenant_names[MST_TENANTS];

struct mst_tenants {
    uid_t ids[MST_TENANTS];     /* of the user, and of the group of the same name */
};

/* Finds ids that nobody has. 0, or -1 with a sentence. */
int mst_tenants_choose(struct mst_tenants *tenants, char error[MST_ERROR_MAX]);

/* This process, and what it starts, goes where they exist. Files for it are made below
 * ROOT/etc. Root only. 0, or -1 with a sentence. */
int mst_tenants_enter(const struct mst_tenants *tenants, const char *root,
                      char error[MST_ERROR_MAX]);

#endif

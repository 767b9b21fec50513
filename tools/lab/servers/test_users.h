/* test_users.h - users that exist for a stack's processes alone: mpmstat-a and mpmstat-b.
 *
 * They are in private copies of /etc/passwd and /etc/group, which a private mount namespace
 * shows in place of the system's; so are suexec's configuration and log directory. What
 * runs outside sees none of it, and it ends with the last process inside.
 */
#ifndef MPMSTAT_LAB_TEST_USERS_H
#define MPMSTAT_LAB_TEST_USERS_H

#include <sys/types.h>

#include "base/error.h"

#define MST_TEST_USERS 2

extern const char *const mst_test_user_names[MST_TEST_USERS];
extern const char *const mst_test_user_variables[MST_TEST_USERS];   /* of stacks: TENANT_A ... */

struct mst_test_users {
    uid_t ids[MST_TEST_USERS];     /* of the user, and of the group of the same name */
};

/* Finds ids that are not in use. 0, or -1 with a sentence. */
int mst_test_users_choose(struct mst_test_users *test_users, char error[MST_ERROR_MAX]);

/* This process, and what it starts, goes where they exist. Files for it are made below
 * ROOT/etc. Root only. 0, or -1 with a sentence. */
int mst_test_users_enter(const struct mst_test_users *test_users, const char *root,
                      char error[MST_ERROR_MAX]);

#endif

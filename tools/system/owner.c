/* owner.c - the owner of a board in words: see owner.h. */
#include "system/owner.h"

#include <pwd.h>
#include <stddef.h>
#include <stdio.h>

struct mst_owner_name mst_owner_name(uid_t owner)
{
    struct passwd entry, *found = NULL;
    struct mst_owner_name name;
    char buffer[4096];

    if (getpwuid_r(owner, &entry, buffer, sizeof buffer, &found) != 0)
        found = NULL;
    if (found != NULL)
        snprintf(name.text, sizeof name.text, "%.64s (user %lu)", found->pw_name,
                 (unsigned long)owner);
    else
        snprintf(name.text, sizeof name.text, "user %lu", (unsigned long)owner);
    return name;
}

/* owner.c - the owner of a board in words, and who may read it: see owner.h. */
#include "system/owner.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_MAX 4096u

struct mst_owner_name mst_owner_name(uid_t owner)
{
    struct passwd entry, *found = NULL;
    struct mst_owner_name name;
    char buffer[ENTRY_MAX];

    if (getpwuid_r(owner, &entry, buffer, sizeof buffer, &found) != 0)
        found = NULL;
    if (found != NULL)
        snprintf(name.text, sizeof name.text, "%.64s (user %lu)", found->pw_name,
                 (unsigned long)owner);
    else
        snprintf(name.text, sizeof name.text, "user %lu", (unsigned long)owner);
    return name;
}

/* The part of the path whose permissions tell why it is closed: the file itself, or the nearest
 * directory that this user may not enter. Cuts the path there. */
static bool find_barrier(char *path, struct stat *st)
{
    char *slash;

    while (stat(path, st) != 0) {
        slash = strrchr(path, '/');
        if (errno != EACCES || slash == NULL || slash == path)
            return false;
        *slash = '\0';
    }
    return true;
}

static const char *group_name(gid_t gid, char *buffer, size_t size)
{
    struct group entry, *found = NULL;

    if (getgrgid_r(gid, &entry, buffer, size, &found) != 0 || found == NULL)
        snprintf(buffer, size, "%lu", (unsigned long)gid);
    return found != NULL ? found->gr_name : buffer;
}

static const char *user_name(char *buffer, size_t size)
{
    struct passwd entry, *found = NULL;

    if (getpwuid_r(geteuid(), &entry, buffer, size, &found) != 0 || found == NULL)
        return "USER";
    return found->pw_name;
}

void mst_owner_say_closed(const char *path, char sentence[MST_ERROR_MAX])
{
    char barrier[MST_ERROR_MAX], group[ENTRY_MAX], user[ENTRY_MAX];
    const char *name;
    struct stat st;
    mode_t needed;

    snprintf(barrier, sizeof barrier, "%s", path);
    if (!find_barrier(barrier, &st)) {
        snprintf(sentence, MST_ERROR_MAX, "%.300s may not be read by this user (permission denied):"
                 " use sudo", path);
        return;
    }
    needed = S_ISDIR(st.st_mode) ? S_IRGRP | S_IXGRP : S_IRGRP;
    if ((st.st_mode & needed) != needed) {
        snprintf(sentence, MST_ERROR_MAX, "%.300s may not be read by this user (permission denied):"
                 " %.300s is for %s alone. Use sudo", path, barrier,
                 mst_owner_name(st.st_uid).text);
        return;
    }
    name = group_name(st.st_gid, group, sizeof group);
    snprintf(sentence, MST_ERROR_MAX, "%.300s may not be read by this user (permission denied): "
             "%.300s is for root and the group %.64s. Use sudo, or join the group: usermod -aG "
             "%.64s %.64s as root, and a new login", path, barrier, name, name,
             user_name(user, sizeof user));
}

/* target_open.c - opens the board that a target names, and takes snapshots of it: see target.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment/liveness.h"
#include "source/target.h"
#include "system/owner.h"

static bool is_same_file(const struct mst_target *t)
{
    struct stat st;

    /* A board that was removed is still the last word on its server. */
    return t->is_open && (stat(t->name, &st) != 0 ||
                          (st.st_dev == t->reader.device && st.st_ino == t->reader.inode));
}

int mst_target_reader(const struct mst_target *t, struct mst_reader *reader,
                      char error[MST_ERROR_MAX])
{
    if (mst_reader_open(reader, t->name, error) != 0) {
        if (access(t->name, R_OK) != 0 && errno == EACCES)
            mst_owner_say_closed(t->name, error);
        return -1;
    }
    if (!t->has_owner || reader->owner == t->owner)
        return 0;
    snprintf(error, MST_ERROR_MAX, "%s: expected a board of %s, as it was before, found one of %s; "
             "name it again if that is its server now", t->name, mst_owner_name(t->owner).text,
             mst_owner_name(reader->owner).text);
    mst_reader_close(reader);
    return -1;
}

/* Takes what the new board costs, instead of what the one before did. */
static int exchange(const struct mst_target *t, const struct mst_reader *reader,
                    char error[MST_ERROR_MAX])
{
    char ignored[MST_ERROR_MAX];

    if (t->is_open)
        mst_allowance_give(t->allowance, &t->reader);
    if (mst_allowance_take(t->allowance, reader, error) == 0)
        return 0;
    if (t->is_open)
        mst_allowance_take(t->allowance, &t->reader, ignored);
    return -1;
}

int mst_target_open(struct mst_target *t, char error[MST_ERROR_MAX])
{
    struct mst_reader reader;

    if (t->problem != NULL)
        return mst_fail(error, "%s", t->problem);
    if (is_same_file(t))
        return 0;
    if (mst_target_reader(t, &reader, error) != 0)
        return -1;
    if (exchange(t, &reader, error) != 0) {
        mst_reader_close(&reader);
        return -1;
    }
    if (t->is_open)
        mst_reader_close(&t->reader);
    t->reader = reader;
    t->owner = reader.owner;
    t->has_owner = t->is_open = true;
    return 1;
}

void mst_target_close(struct mst_target *t)
{
    if (t->is_open)
        mst_reader_close(&t->reader);
    t->is_open = false;
}

void mst_targets_share_drops(const struct mst_targets *targets, struct mst_drops *drops)
{
    size_t i;

    for (i = 0; i < targets->count; i++)
        targets->items[i].drops = drops;
}

/* What the kernel tells of the board's server: whether it runs, its accept queues. */
static struct mst_world observe_server(struct mst_target *t)
{
    struct mst_world world;

    memset(&world, 0, sizeof world);
    world.exemplars = t->exemplars;
    mst_listen_free(&t->listen);
    world.running = mst_reader_running(&t->reader);
    if (world.running == 1) {
        mst_listen_read_process(&t->listen, t->reader.header.pid,
                                strcmp(t->reader.header.sapi, "fpm-fcgi") == 0, t->drops);
        mst_listen_tell(&t->listen, &world);
    }
    return world;
}

int mst_target_snapshot(struct mst_target *t, struct mst_snapshot *snapshot,
                        struct mst_copy *copy, char error[MST_ERROR_MAX])
{
    struct mst_world world;
    int changed;

    changed = mst_target_open(t, error);
    if (changed < 0 || mst_copy_take(copy, &t->reader, error) != 0)
        return -1;
    world = observe_server(t);
    if (world.running == 1 && !world.listeners_known) {
        mst_listen_read_pools(&t->listen, copy, t->drops);
        mst_listen_tell(&t->listen, &world);
    }
    if (mst_snapshot_make(snapshot, copy, &world) != 0) {
        mst_copy_free(copy);
        return mst_fail(error, "out of memory");
    }
    return changed;
}

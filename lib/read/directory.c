/* directory.c - the boards of a directory: see directory.h. */
#include "read/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/host.h"

/* ---- the list ---------------------------------------------------------------- */

static bool is_board_name(const char *name)
{
    size_t length = strlen(name), suffix = strlen(MST_BOARD_SUFFIX);

    return name[0] != '.' && length > suffix
           && strcmp(name + length - suffix, MST_BOARD_SUFFIX) == 0;
}

static int add_file(struct mst_board_list *list, const char *path, const struct stat *st)
{
    struct mst_board_file *file = mst_append(&list->files, &list->count, sizeof *file);

    if (file == NULL)
        return -1;
    *file = (struct mst_board_file){
        .path = strdup(path), .owner = st->st_uid,
        .rank = st->st_uid == 0 ? 0 : mst_owner_is_ours(st->st_uid) ? 1 : 2,
        .device = st->st_dev, .inode = st->st_ino,
    };
    list->count -= file->path == NULL;
    return file->path != NULL ? 0 : -1;
}

/* Adds an entry, unless it is not a board's or was removed meanwhile. */
static int add_entry(struct mst_board_list *list, DIR *dir, const char *directory,
                     const char *name)
{
    struct stat st;
    char *path;
    int rc;

    if (!is_board_name(name) || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return -1;
    rc = add_file(list, path, &st);
    free(path);
    return rc;
}

static int read_entries(struct mst_board_list *list, DIR *dir, const char *directory)
{
    struct dirent *entry;
    size_t entries = 0;

    while (entries++ < MST_DIRECTORY_ENTRIES) {
        errno = 0;
        entry = readdir(dir);
        if (entry == NULL)
            return errno == 0 ? 0 : -1;
        if (add_entry(list, dir, directory, entry->d_name) != 0) {
            errno = ENOMEM;
            return -1;
        }
    }
    list->cut = true;
    return 0;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct mst_board_file *)left)->path,
                  ((const struct mst_board_file *)right)->path);
}

int mst_board_list_add(struct mst_board_list *list, const char *directory)
{
    DIR *dir = opendir(directory);
    size_t first = list->count;
    int rc, reason;

    if (dir == NULL)
        return -1;
    rc = read_entries(list, dir, directory);
    reason = errno;
    closedir(dir);
    if (list->count > first)
        qsort(list->files + first, list->count - first, sizeof *list->files, by_path);
    for (; first < list->count; first++)
        list->files[first].nth = first;
    errno = reason;
    return rc;
}

void mst_board_list_free(struct mst_board_list *list)
{
    while (list->count > 0)
        free(list->files[--list->count].path);
    free(list->files);
    memset(list, 0, sizeof *list);
}

/* ---- its order ------------------------------------------------------------------- */

static int compare(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_owner(const void *left, const void *right)
{
    const struct mst_board_file *a = left, *b = right;
    int order = compare(a->rank, b->rank);

    if (order == 0)
        order = compare(a->owner, b->owner);
    return order != 0 ? order : compare(a->nth, b->nth);
}

/* By now nth counts the files of each other user. */
static int by_turn(const void *left, const void *right)
{
    const struct mst_board_file *a = left, *b = right;
    int order = compare(a->rank, b->rank);

    if (order == 0)
        order = compare(a->nth, b->nth);
    return order != 0 ? order : compare(a->owner, b->owner);
}

void mst_board_list_order(struct mst_board_list *list)
{
    struct mst_board_file *files = list->files;
    size_t i;

    if (list->count < 2)
        return;
    qsort(files, list->count, sizeof *files, by_owner);
    for (i = 0; i < list->count; i++)
        if (files[i].rank == 2)
            files[i].nth = i > 0 && files[i - 1].owner == files[i].owner ? files[i - 1].nth + 1
                                                                         : 0;
    qsort(files, list->count, sizeof *files, by_turn);
}

/* ---- those that are wanted ----------------------------------------------------- */

/* For each board wanted, at most this many files of users other than root are opened, since most
 * of them may not be boards. */
#define TRIES 4u

/* The limits, and what was used of them. */
struct search {
    const struct mst_boards_wanted *wanted;
    struct mst_allowance            allowance;
    size_t                          opened, unreadable, tries;
};

/* Opens a board, or sets the reason why it is not shown. Returns false where it is of another
 * producer than wanted. */
static bool open_board(struct mst_found_board *board, struct search *search)
{
    bool is_wanted;

    if (mst_reader_open(&board->reader, board->path, board->reason) != 0)
        return true;
    is_wanted = board->reader.header.producer == (uint32_t)search->wanted->producer;
    board->open = is_wanted && mst_allowance_take(&search->allowance, &board->reader,
                                                  board->reason) == 0;
    if (!board->open)
        mst_reader_close(&board->reader);
    return is_wanted;
}

/* The next free item, with its path set. NULL: out of memory. */
static struct mst_found_board *next_board(struct mst_found_boards *found, const char *path)
{
    struct mst_found_board *board = &found->items[found->count];

    memset(board, 0, sizeof *board);
    board->path = strdup(path);
    return board->path != NULL ? board : NULL;
}

static bool is_enough(const struct search *search, const struct mst_board_file *next)
{
    size_t limit = search->wanted->limit;

    return search->opened == limit || search->unreadable == limit
           || (next->owner != 0 && search->tries == TRIES * limit);
}

/* Opens files until the limits are reached. */
static int open_wanted(struct mst_found_boards *found, const struct mst_board_list *list,
                       struct search *search)
{
    size_t i;

    for (i = 0; i < list->count && !is_enough(search, &list->files[i]); i++) {
        struct mst_found_board *board = next_board(found, list->files[i].path);

        if (board == NULL)
            return -1;
        search->tries += list->files[i].owner != 0;
        if (!open_board(board, search)) {
            free(board->path);
            continue;
        }
        search->opened += board->open;
        search->unreadable += !board->open;
        found->count++;
    }
    found->omitted = list->count - i;
    return 0;
}

/* Adds a directory's files to the list. One that cannot be read, or not completely, becomes an
 * item that says so. */
static int list_directory(struct mst_found_boards *found, struct mst_board_list *list,
                          const char *directory)
{
    struct mst_found_board *board;
    int reason;

    list->cut = false;
    reason = mst_board_list_add(list, directory) == 0 ? 0 : errno;
    if (reason == ENOENT || reason == ENOTDIR || (reason == 0 && !list->cut))
        return 0;
    board = reason != ENOMEM ? next_board(found, directory) : NULL;
    if (board == NULL)
        return -1;
    found->count++;
    if (reason != 0)
        mst_fail(board->reason, "cannot look for boards in %s: %s", directory, strerror(reason));
    else
        mst_fail(board->reason, "%s has too many entries: expected at most %u, and boards behind "
                 "them are not found; remove what is not a board", directory,
                 MST_DIRECTORY_ENTRIES);
    return 0;
}

int mst_found_boards_open(struct mst_found_boards *found, const char *directory,
                          const struct mst_boards_wanted *wanted)
{
    struct search search = { .wanted = wanted, .allowance = wanted->allowance };
    struct mst_board_list list = { 0 };
    char *nested = NULL;
    int rc = -1;

    memset(found, 0, sizeof *found);
    found->items = calloc(2 * wanted->limit + 3, sizeof *found->items);
    if (found->items != NULL && asprintf(&nested, "%s/php", directory) >= 0
        && list_directory(found, &list, directory) == 0
        && list_directory(found, &list, nested) == 0) {
        mst_board_list_order(&list);
        rc = open_wanted(found, &list, &search);
    }
    free(nested);
    mst_board_list_free(&list);
    if (rc != 0)
        mst_found_boards_free(found);
    return rc;
}

void mst_found_boards_free(struct mst_found_boards *found)
{
    while (found->count > 0) {
        struct mst_found_board *board = &found->items[--found->count];

        if (board->open)
            mst_reader_close(&board->reader);
        free(board->path);
    }
    free(found->items);
    found->items = NULL;
    found->omitted = 0;
}

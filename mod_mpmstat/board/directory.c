/* directory.c - the boards of a directory: see directory.h. */
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the list ---------------------------------------------------------------- */

static int is_board_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), suffix = strlen(MST_BOARD_SUFFIX);

    return entry->d_name[0] != '.' && length > suffix
           && strcmp(entry->d_name + length - suffix, MST_BOARD_SUFFIX) == 0;
}

int mst_board_list_add(struct mst_board_list *list, const char *directory)
{
    struct dirent **entries = NULL;
    int i, n = scandir(directory, &entries, is_board_name, alphasort);
    char **paths;
    bool fine;

    if (n < 0)
        return -1;
    paths = reallocarray(list->paths, list->count + (size_t)n + 1, sizeof *paths);
    fine = paths != NULL;
    if (fine)
        list->paths = paths;
    for (i = 0; i < n; i++) {
        fine = fine && asprintf(&paths[list->count], "%s/%s", directory, entries[i]->d_name) >= 0;
        list->count += fine;
        free(entries[i]);
    }
    free(entries);
    if (fine)
        return 0;
    errno = ENOMEM;
    return -1;
}

int mst_board_list_read(struct mst_board_list *list, const char *directory)
{
    int reason;

    memset(list, 0, sizeof *list);
    if (mst_board_list_add(list, directory) == 0)
        return 0;
    reason = errno;
    mst_board_list_free(list);
    errno = reason;
    return -1;
}

void mst_board_list_free(struct mst_board_list *list)
{
    while (list->count > 0)
        free(list->paths[--list->count]);
    free(list->paths);
    list->paths = NULL;
}

/* ---- those that are wanted ----------------------------------------------------- */

/* A path, and by what it is sorted. */
struct candidate {
    char   *path;
    uid_t   owner;
    size_t  nth;       /* by name */
};

/* Root's servers first, whose boards nobody else can crowd out. */
static int by_owner(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->nth > b->nth) - (a->nth < b->nth);
}

static struct candidate *sorted(const struct mst_board_list *list)
{
    struct candidate *all = calloc(list->count + 1, sizeof *all);
    struct stat st;
    size_t i;

    for (i = 0; all != NULL && i < list->count; i++) {
        all[i].path = list->paths[i];
        all[i].owner = lstat(list->paths[i], &st) == 0 ? st.st_uid : (uid_t)-1;
        all[i].nth = i;
    }
    if (all != NULL)
        qsort(all, list->count, sizeof *all, by_owner);
    return all;
}

/* Opens one, or says why it is not to be shown. False: it is none of those wanted. */
static bool look(struct mst_found_board *board, const struct mst_boards_wanted *wanted)
{
    if (mst_reader_open(&board->reader, board->path, board->reason) != 0)
        return true;
    board->open = board->reader.header.producer == (uint32_t)wanted->producer
               && mst_copy_bytes(&board->reader) <= wanted->copy_bytes;
    if (board->open)
        return true;
    mst_fail(board->reason, "the board %s is too large to be shown here: mpmstat status shows it",
             board->path);
    mst_reader_close(&board->reader);
    return board->reader.header.producer == (uint32_t)wanted->producer;
}

/* Room for another one, named so. NULL: out of memory. */
static struct mst_found_board *next_board(struct mst_found_boards *found, const char *path)
{
    struct mst_found_board *board = &found->items[found->count];

    memset(board, 0, sizeof *board);
    board->path = strdup(path);
    return board->path != NULL ? board : NULL;
}

/* Goes through the candidates until enough boards are open, or unreadable. */
static int open_wanted(struct mst_found_boards *found, const struct candidate *all, size_t count,
                       const struct mst_boards_wanted *wanted)
{
    size_t i, opened = 0, others = found->count;

    for (i = 0; i < count && opened < wanted->limit && others < wanted->limit; i++) {
        struct mst_found_board *board = next_board(found, all[i].path);

        if (board == NULL)
            return -1;
        if (!look(board, wanted)) {
            free(board->path);
            continue;
        }
        opened += board->open;
        others += !board->open;
        found->count++;
    }
    found->omitted = count - i;
    return 0;
}

/* Adds a directory's paths to the list. One that may not be read is named as such. */
static int list_directory(struct mst_found_boards *found, struct mst_board_list *list,
                          const char *directory)
{
    struct mst_found_board *board;
    int reason;

    if (mst_board_list_add(list, directory) == 0 || errno == ENOENT || errno == ENOTDIR)
        return 0;
    reason = errno;
    board = reason != ENOMEM ? next_board(found, directory) : NULL;
    if (board == NULL)
        return -1;
    mst_fail(board->reason, "cannot look for boards in %s: %s", directory, strerror(reason));
    found->count++;
    return 0;
}

int mst_found_boards_open(struct mst_found_boards *found, const char *directory,
                          const struct mst_boards_wanted *wanted)
{
    struct mst_board_list list = { 0 };
    struct candidate *all = NULL;
    char *nested = NULL;
    int rc = -1;

    memset(found, 0, sizeof *found);
    found->items = calloc(2 * wanted->limit + 3, sizeof *found->items);
    if (found->items != NULL && asprintf(&nested, "%s/php", directory) >= 0
        && list_directory(found, &list, directory) == 0
        && list_directory(found, &list, nested) == 0 && (all = sorted(&list)) != NULL)
        rc = open_wanted(found, all, list.count, wanted);
    free(nested);
    free(all);
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

/* guard.h - keeps a process alive when pages of a board that it has mapped are gone.
 *
 * A shared file can lose a page: a process of the server truncates the file, or punches a hole
 * into it (madvise(MADV_REMOVE)) and the file system has no block left for the next access. That
 * access is a SIGBUS, in the parent as in any worker; where a process has unmapped the board, it
 * is a SIGSEGV. The guard's signal handler replaces the lost page by a private page of zeroes, so
 * that the access succeeds. Recording ends; serving does not.
 *
 * Used by the writers of a board. Readers use pread() and need no guard.
 */
#ifndef MPMSTAT_WRITE_GUARD_H
#define MPMSTAT_WRITE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A guarded mapping. Lives as long as the mapping. Written before the first fork. */
struct mst_page_guard {
    char     *begin;    /* NULL: no mapping */
    size_t    bytes;
    uint32_t *loss;     /* enum mst_loss; atomic; shared by the processes that inherit it; NULL:
                         * the kernel had no page for it */
};

enum mst_loss {
    MST_LOSS_NONE,
    MST_LOSS_HAPPENED,  /* a process has lost a page */
    MST_LOSS_TOLD       /* and a process is reporting it, or has */
};

/* The functions of one copy of this library. Two copies in a process (mod_mpmstat's and that of
 * the PHP extension) share one signal handler, that of the copy which exports its service. */
struct mst_guard_service {
    size_t version;                             /* MST_GUARD_VERSION */
    void (*watch)(struct mst_page_guard *guard);
    void (*forget)(struct mst_page_guard *guard);
};
#define MST_GUARD_VERSION (sizeof(struct mst_page_guard) << 8 | 1u)
#define MST_GUARD_SYMBOL  "mpmstat_guard"       /* the name under which it is exported */

/* This copy's own service. */
extern const struct mst_guard_service mst_guard_own;

/* The service that this copy uses: its own, unless the program sets another. Not NULL. */
extern const struct mst_guard_service *mst_guard_service;

/* Guards the mapping [begin, begin + bytes) from now on. */
void mst_guard_begin(struct mst_page_guard *guard, void *begin, size_t bytes);

/* Installs the signal handler again where a program has replaced it since (httpd does when its
 * MPM starts, and at a restart). Call it before the parent forks or writes. A few system calls. */
void mst_guard_renew(struct mst_page_guard *guard);

/* Ends that. Removes the signal handler with the last mapping. */
void mst_guard_end(struct mst_page_guard *guard);

/* Notes a loss that no access met: the pages are there, with other contents. */
void mst_guard_note_loss(struct mst_page_guard *guard);

/* Whether a page is lost and no process has reported it. True in one process of the server, once:
 * that process MUST report it. */
bool mst_guard_is_to_tell(struct mst_page_guard *guard);

/* Whether a process of the server has lost a page. */
bool mst_guard_has_lost(const struct mst_page_guard *guard);

#endif

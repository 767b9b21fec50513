/* guard.c - replaces the lost pages of a board in this process: see guard.h.
 *
 * A fault outside of the guarded mappings belongs to the handler that was installed before: its
 * disposition is put back, and the faulting instruction runs again.
 */
#include "write/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WATCHED_MAX 4u   /* mod_mpmstat's board and PHP's; tests have more than one */

static struct mst_page_guard *watched[WATCHED_MAX];   /* atomic pointers */

/* The signals that an access to a lost page raises. */
static struct handled {
    const int        signal;
    struct sigaction previous;     /* in force before this library's handler */
    bool             handed_on;    /* previous has had a fault since */
} handled[] = { { .signal = SIGBUS }, { .signal = SIGSEGV } };
#define HANDLED (sizeof handled / sizeof *handled)

/* ---- in the signal handler: async-signal-safe calls only ----------------------------- */

static struct mst_page_guard *guard_at(const char *address)
{
    size_t i;

    for (i = 0; i < WATCHED_MAX; i++) {
        struct mst_page_guard *g = __atomic_load_n(&watched[i], __ATOMIC_ACQUIRE);

        if (g != NULL && address >= g->begin && (size_t)(address - g->begin) < g->bytes)
            return g;
    }
    return NULL;
}

static bool map_zeroes(char *begin, size_t bytes, int how)
{
    return mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0)
           == begin;
}

/* The page is still the board's, without a block behind it. Page by page, since a process that
 * has unmapped parts of the board may use those addresses for something else; all of it where
 * the kernel allows no more mappings. */
static bool replace_lost_page(const struct mst_page_guard *g, char *page, size_t page_bytes)
{
    return map_zeroes(page, page_bytes, MAP_FIXED) || map_zeroes(g->begin, g->bytes, MAP_FIXED);
}

/* The process has unmapped the page. All free addresses of the board are mapped at once, before
 * another mapping gets an address to which the board is written. EEXIST: the page has a mapping,
 * or another thread was first. */
static bool replace_unmapped_pages(const struct mst_page_guard *g, size_t page_bytes)
{
    char *page, *end = g->begin + g->bytes;

    for (page = g->begin; page < end; page += page_bytes)
        if (!map_zeroes(page, page_bytes, MAP_FIXED_NOREPLACE) && errno != EEXIST)
            return false;
    return true;
}

static bool replace_page(int signal, const siginfo_t *info)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct mst_page_guard *g = guard_at(info->si_addr);
    char *page;

    if (g == NULL)
        return false;
    page = g->begin + ((size_t)((char *)info->si_addr - g->begin) & ~(page_bytes - 1));
    if (signal == SIGBUS ? info->si_code != BUS_ADRERR || !replace_lost_page(g, page, page_bytes)
                         : info->si_code != SEGV_MAPERR || !replace_unmapped_pages(g, page_bytes))
        return false;
    if (g->loss != NULL && __atomic_load_n(g->loss, __ATOMIC_RELAXED) == MST_LOSS_NONE)
        __atomic_store_n(g->loss, MST_LOSS_HAPPENED, __ATOMIC_RELAXED);
    return true;
}

/* Puts the previous handler in force; the faulting instruction raises the signal again. The second
 * time it puts the default action in force: handlers that were installed on top of each other in
 * a circle must not pass a fault on for ever. */
static void hand_on(int signal, const siginfo_t *info)
{
    struct sigaction fallback = { .sa_handler = SIG_DFL };
    size_t i;

    for (i = 0; i < HANDLED; i++)
        if (handled[i].signal == signal) {
            sigaction(signal, handled[i].handed_on ? &fallback : &handled[i].previous, NULL);
            handled[i].handed_on = true;
        }
    if (info->si_code <= 0)   /* sent by a process: no instruction raises it again */
        raise(signal);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (info->si_code <= 0 || !replace_page(signal, info))
        hand_on(signal, info);
    errno = saved;
}

/* ---- installing ---------------------------------------------------------------------- */

static bool is_installed(const struct sigaction *present)
{
    return (present->sa_flags & SA_SIGINFO) && present->sa_sigaction == on_fault;
}

static void install(void)
{
    struct sigaction ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    struct sigaction present;
    size_t i;

    sigemptyset(&ours.sa_mask);
    for (i = 0; i < HANDLED; i++) {
        if (sigaction(handled[i].signal, NULL, &present) != 0 || is_installed(&present))
            continue;
        handled[i].previous = present;
        handled[i].handed_on = false;
        sigaction(handled[i].signal, &ours, NULL);
    }
}

/* Leaves a handler in force that was installed after this one. */
static void uninstall(void)
{
    struct sigaction present;
    size_t i;

    for (i = 0; i < HANDLED; i++)
        if (sigaction(handled[i].signal, NULL, &present) == 0 && is_installed(&present))
            sigaction(handled[i].signal, &handled[i].previous, NULL);
}

static void watch(struct mst_page_guard *guard)
{
    struct mst_page_guard **room = NULL;
    size_t i;

    for (i = 0; i < WATCHED_MAX && (room == NULL || *room != guard); i++)
        if (watched[i] == guard || (watched[i] == NULL && room == NULL))
            room = &watched[i];
    if (room == NULL)
        return;
    __atomic_store_n(room, guard, __ATOMIC_RELEASE);
    install();
}

static void forget(struct mst_page_guard *guard)
{
    bool any = false;
    size_t i;

    for (i = 0; i < WATCHED_MAX; i++) {
        if (watched[i] == guard)
            __atomic_store_n(&watched[i], NULL, __ATOMIC_RELEASE);
        any = any || watched[i] != NULL;
    }
    if (!any)
        uninstall();
}

const struct mst_guard_service mst_guard_own = { MST_GUARD_VERSION, watch, forget };
const struct mst_guard_service *mst_guard_service = &mst_guard_own;

/* ---- for the owners of boards -------------------------------------------------------- */

void mst_guard_begin(struct mst_page_guard *guard, void *begin, size_t bytes)
{
    guard->begin = begin;
    guard->bytes = bytes;
    guard->loss = mmap(NULL, sizeof *guard->loss, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (guard->loss == MAP_FAILED)
        guard->loss = NULL;
    mst_guard_service->watch(guard);
}

void mst_guard_renew(struct mst_page_guard *guard)
{
    if (guard->begin != NULL)
        mst_guard_service->watch(guard);
}

void mst_guard_end(struct mst_page_guard *guard)
{
    if (guard->begin == NULL)
        return;
    mst_guard_service->forget(guard);
    if (guard->loss != NULL)
        munmap(guard->loss, sizeof *guard->loss);
    memset(guard, 0, sizeof *guard);
}

bool mst_guard_has_lost(const struct mst_page_guard *guard)
{
    return guard->loss != NULL && __atomic_load_n(guard->loss, __ATOMIC_RELAXED) != MST_LOSS_NONE;
}

void mst_guard_note_loss(struct mst_page_guard *guard)
{
    uint32_t none = MST_LOSS_NONE;

    if (guard->loss != NULL)
        __atomic_compare_exchange_n(guard->loss, &none, MST_LOSS_HAPPENED, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool mst_guard_is_to_tell(struct mst_page_guard *guard)
{
    uint32_t happened = MST_LOSS_HAPPENED;

    return mst_guard_has_lost(guard)
        && __atomic_compare_exchange_n(guard->loss, &happened, MST_LOSS_TOLD, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

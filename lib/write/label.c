/* label.c - the tables of names: the labels that requests are tallied under, and the other ends.
 *
 * Entries are taken in order and never freed: a search that comes to a free entry has passed every
 * label that there is, and has counted what each tenant made. Two processes that add a label at
 * once compete for the same entry, and the loser counts the winner's before it tries the next; so
 * quotas hold exactly.
 *
 * Every worker can write to the table. What is read from it is compared and counted, and is never
 * an index or a length.
 */
#include <sched.h>
#include <string.h>

#include "base/fnv.h"
#include "write/board.h"

/* The values of `used`. An entry goes from FREE through NAMING to USED; from NAMING to ABANDONED
 * where another process has waited for its name too long. Any other value is damage, and stays. */
#define FREE      UINT64_C(0)
#define USED      UINT64_C(1)
#define NAMING    UINT64_C(2)
#define ABANDONED UINT64_C(3)

/* How often one search yields the CPU to processes that are naming entries: in all, not for each
 * entry. To name one takes a few stores. */
#define PATIENCE 100u

#define NOT_THERE UINT32_MAX

#define LABEL_CHARACTERS \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

struct search {
    char                     name[MST_NAME_MAX];   /* with zeroes behind it, as on the board */
    struct mst_name         *table;
    uint32_t                 count;      /* entries of it */
    uint64_t                 owner;      /* what an entry gets that this search adds */
    bool                     is_end;     /* the table is that of the other ends */
    const struct mst_tenant *tenant;     /* NULL: the server's own configuration */
    unsigned                 patience;   /* left */
    uint32_t                 by_tenant;  /* entries passed that this tenant made */
    uint32_t                 by_tenants; /* entries passed that any tenant made */
};

bool mst_label_is_valid(const char *name)
{
    size_t length = strspn(name, LABEL_CHARACTERS);

    return length > 0 && length < MST_NAME_MAX && name[length] == '\0';
}

/* Names that collide share a quota, nothing else. */
uint64_t mst_label_owner(const char *name)
{
    uint64_t hash = mst_fnv_text(MST_FNV_BEGIN, name);

    return hash ? hash : 1;
}

void mst_label_read(const struct mst_board *b, uint32_t index, char name[MST_NAME_MAX])
{
    memcpy(name, b->labels[index].name, MST_NAME_MAX);
    name[MST_NAME_MAX - 1] = '\0';
}

static bool change(struct mst_name *l, uint64_t *from, uint64_t to)
{
    return __atomic_compare_exchange_n(&l->used, from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* The value of `used` of an entry that is not free. Waits for one that is being named, and abandons
 * it when there is no patience left: the process that was naming it finds that out and takes
 * another entry, so that no name is there twice, and no search waits for it again. */
static uint64_t final_state(struct mst_name *l, struct search *s)
{
    uint64_t state = __atomic_load_n(&l->used, __ATOMIC_ACQUIRE);

    for (; state == NAMING && s->patience > 0; s->patience--) {
        sched_yield();
        state = __atomic_load_n(&l->used, __ATOMIC_ACQUIRE);
    }
    if (state == NAMING && change(l, &state, ABANDONED))
        return ABANDONED;
    return state;
}

static bool may_add(const struct search *s)
{
    const struct mst_tenant *t = s->tenant;

    return t == NULL || (s->by_tenant < t->quota && s->by_tenants < t->share);
}

/* False: another process was first, or has abandoned the entry. */
static bool add_label(struct mst_name *l, const struct search *s)
{
    uint64_t state = FREE;

    if (!change(l, &state, NAMING))
        return false;
    __atomic_store_n(&l->owner, s->owner, __ATOMIC_RELAXED);
    memcpy(l->name, s->name, sizeof l->name);
    state = NAMING;
    return change(l, &state, USED);
}

static void count_owner(struct search *s, const struct mst_name *l)
{
    uint64_t owner = __atomic_load_n(&l->owner, __ATOMIC_RELAXED);

    if (s->is_end)
        owner = MST_END_TENANT_OF(owner);
    if (owner == 0 || s->tenant == NULL)
        return;
    s->by_tenants++;
    s->by_tenant += owner == s->tenant->owner;
}

/* Other ends of two kinds can have the same name. */
static bool is_wanted(const struct mst_name *l, const struct search *s)
{
    return memcmp(l->name, s->name, sizeof l->name) == 0
        && (!s->is_end || MST_END_KIND_OF(__atomic_load_n(&l->owner, __ATOMIC_RELAXED))
                              == MST_END_KIND_OF(s->owner));
}

static uint32_t find_or_add(const char *name, struct search *s)
{
    uint32_t i;

    strncpy(s->name, name, sizeof s->name - 1);
    for (i = 0; i < s->count; i++) {
        struct mst_name *l = &s->table[i];

        if (__atomic_load_n(&l->used, __ATOMIC_ACQUIRE) == FREE) {
            if (!may_add(s))
                return NOT_THERE;
            if (add_label(l, s))
                return i;
        }
        if (final_state(l, s) == USED && is_wanted(l, s))
            return i;
        count_owner(s, l);
    }
    return NOT_THERE;
}

static uint32_t intern_own(struct mst_board *b, const char *name, unsigned patience)
{
    struct search search = { .table = b->labels, .count = b->label_count, .patience = patience };
    uint32_t index = find_or_add(name, &search);

    return index != NOT_THERE ? index : MST_LABEL_OTHER;
}

uint32_t mst_label_intern(struct mst_board *b, const char *name)
{
    return intern_own(b, name, PATIENCE);
}

uint32_t mst_label_reserve(struct mst_board *b, const char *name)
{
    return intern_own(b, name, 0);
}

bool mst_label_intern_tenant(struct mst_board *b, const char *name,
                             const struct mst_tenant *tenant, uint32_t *index)
{
    struct search search = { .table = b->labels, .count = b->label_count, .owner = tenant->owner,
                             .tenant = tenant, .patience = PATIENCE };
    uint32_t found = find_or_add(name, &search);

    /* Under the status page's label requests do not count as the server's load. */
    if (found == NOT_THERE || found == MST_LABEL_STATUS)
        return false;
    *index = found;
    return true;
}

static uint32_t intern_end(struct mst_board *b, enum mst_other_end_kind kind, const char *name,
                           const struct mst_tenant *tenant)
{
    struct search search = { .table = b->ends, .count = b->end_count, .is_end = true,
                             .owner = MST_END_OWNER(kind, tenant ? tenant->owner : 0),
                             .tenant = tenant, .patience = PATIENCE };
    char printable[MST_NAME_MAX] = "";
    uint32_t index;
    size_t i;

    for (i = 0; name[i] != '\0' && i < sizeof printable - 1; i++)
        printable[i] = name[i];
    for (i = 0; printable[i] != '\0'; i++)
        if (printable[i] < ' ' || printable[i] > '~')
            printable[i] = '?';
    index = find_or_add(printable, &search);
    return index != NOT_THERE ? index : MST_END_OTHER;
}

uint32_t mst_other_end_intern(struct mst_board *b, enum mst_other_end_kind kind, const char *name)
{
    return intern_end(b, kind, name, NULL);
}

uint32_t mst_other_end_intern_tenant(struct mst_board *b, enum mst_other_end_kind kind,
                                     const char *name, uint64_t owner)
{
    /* An end has room for half of the number; never 0. */
    struct mst_tenant tenant = { .owner = (uint32_t)(owner >> 32) | 1,
                                 .quota = MST_TENANT_ENDS, .share = MST_TENANTS_ENDS };

    return intern_end(b, kind, name, &tenant);
}

/* end_name.c - the names of other ends, and their places in the board's table. */
#include "end_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "label.h"

struct mst_part mst_part_of(const char *text)
{
    return (struct mst_part){ text, text ? strlen(text) : 0 };
}

bool mst_part_starts_with(struct mst_part p, const char *prefix)
{
    return p.length >= strlen(prefix) && strncasecmp(p.text, prefix, strlen(prefix)) == 0;
}

bool mst_part_equals(struct mst_part p, const char *text)
{
    return p.length == strlen(text) && mst_part_starts_with(p, text);
}

void mst_end_name_append(struct mst_end_name *n, struct mst_part p)
{
    size_t room = sizeof n->text - 1 - n->length;

    if (p.length > room)
        p.length = room;
    memcpy(n->text + n->length, p.text, p.length);
    n->length += p.length;
    n->text[n->length] = '\0';
}

void mst_end_name_append_lower(struct mst_end_name *n, struct mst_part p)
{
    size_t i = n->length;

    mst_end_name_append(n, p);
    for (; i < n->length; i++)
        n->text[i] = (char)tolower((unsigned char)n->text[i]);
}

uint64_t mst_wait_of_name(uint32_t kind, const char *name)
{
    if (!MPMSTAT_G(name_ends))
        return mst_wait_of(kind, MST_END_OTHER);
    return mst_wait_of(kind, mst_other_end_intern_tenant(&mst_php.board, MST_END_DATABASE + kind,
                                                         name, mst_label_tenant()));
}

uint64_t mst_wait_of_host(uint32_t kind, struct mst_part service, struct mst_part host,
                          struct mst_part port)
{
    struct mst_end_name n = { "", 0 };

    mst_end_name_append_lower(&n, service);
    mst_end_name_append(&n, mst_part_of(" "));
    if (host.length == 0 || *host.text == '/') {
        mst_end_name_append(&n, mst_part_of("localhost"));
    } else {
        mst_end_name_append_lower(&n, host);
        if (port.length > 0) {
            mst_end_name_append(&n, mst_part_of(":"));
            mst_end_name_append(&n, port);
        }
    }
    return mst_wait_of_name(kind, n.text);
}

uint64_t mst_own_end_look_up(struct mst_own_end *end)
{
    uint32_t index;

    if (!MPMSTAT_G(name_ends))
        return mst_wait_of(end->kind, MST_END_OTHER);
    index = mst_other_end_intern(&mst_php.board, MST_END_DATABASE + end->kind, end->name);
    __atomic_store_n(&end->index, index + 1, __ATOMIC_RELAXED);
    return mst_wait_of(end->kind, index);
}

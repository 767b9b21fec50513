/* parts.c - what people read of the parts of a request's time: see parts.h. */
#include "segment/parts.h"

#include <string.h>

const struct mst_part_words mst_parts[MST_PART_COUNT] = {
#define MST_PART(id, within, name, colour, noun) \
    [MST_PART_##id] = { MST_WITHIN_##within, name, colour, noun },
#include "segment/parts.def"
};

#define X_IS_IN_ORDER(id, name) \
    _Static_assert((int)MST_PART_##id == (int)MST_PART_WAITS + (int)MST_WAIT_##id, name);
MST_WAITS(X_IS_IN_ORDER)

const char *mst_part_row(enum mst_part part)
{
    static const char *const phases[] = {
        [MST_WITHIN_QUEUE] = "queue", [MST_WITHIN_READ] = "read", [MST_WITHIN_HANDLE] = "handle",
        [MST_WITHIN_PHP_RUN] = "php_run", [MST_WITHIN_SEND] = "send",
    };
    const char *name = mst_parts[part].name, *phase = phases[mst_parts[part].within];
    size_t length = strlen(phase);

    if (strncmp(name, phase, length) != 0)
        return name;
    return name[length] == '\0' ? "other" : name + length + 1;
}

uint64_t mst_parts_within(const uint64_t parts_ns[MST_PART_COUNT], enum mst_within within)
{
    uint64_t sum = 0;
    enum mst_part i;

    for (i = 0; i < MST_PART_COUNT; i++)
        if (mst_parts[i].within == within)
            sum += parts_ns[i];
    return sum;
}

enum mst_part mst_part_longest(const uint64_t parts_ns[MST_PART_COUNT])
{
    enum mst_part longest = 0, i;

    for (i = 1; i < MST_PART_COUNT; i++)
        if (parts_ns[i] > parts_ns[longest])
            longest = i;
    return longest;
}

bool mst_part_is_rest(enum mst_part part)
{
    return part == MST_PART_QUEUE || part == MST_PART_READ || part == MST_PART_HANDLE ||
           part == MST_PART_REST || part == MST_PART_SEND;
}

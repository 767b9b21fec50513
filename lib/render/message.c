/* message.c - messages of protobuf: see message.h. */
#include "render/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

static bool make_room(struct mst_message *m, size_t n)
{
    size_t room = 2 * (m->used + n);
    char *more;

    if (m->out_of_memory || n <= m->room - m->used)
        return !m->out_of_memory;
    more = realloc(m->bytes, room);
    if (more == NULL) {
        m->out_of_memory = true;
        return false;
    }
    m->bytes = more;
    m->room = room;
    return true;
}

int mst_message_write(void *message, const void *bytes, size_t n)
{
    struct mst_message *m = message;

    if (!make_room(m, n))
        return ENOMEM;
    memcpy(m->bytes + m->used, bytes, n);
    m->used += n;
    return 0;
}

size_t mst_message_make_varint(unsigned char to[MST_VARINT_MAX], uint64_t value)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

void mst_message_varint(struct mst_message *m, uint64_t value)
{
    unsigned char bytes[MST_VARINT_MAX];

    mst_message_write(m, bytes, mst_message_make_varint(bytes, value));
}

static void put_tag(struct mst_message *m, unsigned field, enum wire wire)
{
    mst_message_varint(m, field << 3 | wire);
}

void mst_message_u64(struct mst_message *m, unsigned field, uint64_t value)
{
    put_tag(m, field, WIRE_VARINT);
    mst_message_varint(m, value);
}

uint64_t mst_message_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

void mst_message_double(struct mst_message *m, unsigned field, double value)
{
    unsigned char bytes[8];
    uint64_t word;
    size_t i;

    memcpy(&word, &value, sizeof word);
    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(word >> 8 * i);
    put_tag(m, field, WIRE_FIXED64);
    mst_message_write(m, bytes, sizeof bytes);
}

void mst_message_end(struct mst_message *m, unsigned field, size_t begin)
{
    unsigned char head[2 * MST_VARINT_MAX];
    size_t length = m->used - begin, n = mst_message_make_varint(head, field << 3 | WIRE_LENGTH);

    n += mst_message_make_varint(head + n, length);
    if (!make_room(m, n))
        return;
    memmove(m->bytes + begin + n, m->bytes + begin, length);
    memcpy(m->bytes + begin, head, n);
    m->used += n;
}

/* message.h - messages of protobuf, written to memory.
 *
 * A field that is a text or a message begins with what m->used is then, is written, and ends with
 * mst_message_end().
 */
#ifndef MPMSTAT_MESSAGE_H
#define MPMSTAT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a message that is being written. It begins as { 0 }; `bytes` is to be freed. */
struct mst_message {
    char  *bytes;
    size_t used, room;
    bool   out_of_memory;   /* nothing more is written */
};

/* A writer of sinks. */
int mst_message_write(void *message, const void *bytes, size_t n);

#define MST_VARINT_MAX 10u
/* Returns how many bytes it has: seven bits in each, the lowest ones first. */
size_t mst_message_make_varint(unsigned char to[MST_VARINT_MAX], uint64_t value);
void mst_message_varint(struct mst_message *m, uint64_t value);

void mst_message_u64(struct mst_message *m, unsigned field, uint64_t value);
void mst_message_double(struct mst_message *m, unsigned field, double value);
/* Signed numbers of small size are short: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
uint64_t mst_message_zigzag(int64_t value);

/* Makes what was written since m->used was `begin` the value of a field: a text or a message. */
void mst_message_end(struct mst_message *m, unsigned field, size_t begin);

#endif

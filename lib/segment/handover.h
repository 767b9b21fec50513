/* handover.h - what one server tells the next about a request, as text.
 *
 * MPMSTAT is the environment variable by which Apache hands a request to PHP, CGI
 * or FastCGI: "ID:TIME:BOOT:TIMENS", the request's id on Apache's board, the
 * CLOCK_MONOTONIC nanoseconds of the hand-over, and where that clock is valid (a hash of
 * the kernel's boot id, inode of the time namespace; 0 unknown), e.g.
 *     4294967297:86500123456789:dad4a49988018922:4026531834
 * X-Request-Start is the header by which front proxies say when they began with a
 * request: seconds, milliseconds, microseconds or nanoseconds since 1970, "t=" before
 * it or not. Its unit is told by its size.
 *
 * Written by: mod_mpmstat. Read by: PHP's extension, mod_mpmstat. Both texts come
 * from elsewhere; nothing in them is trusted.
 */
#ifndef MPMSTAT_HANDOVER_H
#define MPMSTAT_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_HANDOVER_VARIABLE "MPMSTAT"
#define MST_HANDOVER_MAX      112u   /* bytes of the text, with its NUL */
#define MST_HANDOVER_BOOT     40u    /* bytes of BOOT in it at most, with a NUL */

struct mst_handover {
    uint64_t id;
    uint64_t time_ns;                    /* CLOCK_MONOTONIC */
    char     boot[MST_HANDOVER_BOOT];    /* mst_handover_boot()'s; empty: unknown */
    uint64_t time_namespace;             /* inode; 0 unknown */
};

/* BOOT for a kernel's boot id: 16 hexadecimal digits; empty for an empty one.
 *
 * The text is in phpinfo() and goes to FastCGI servers on other machines, and the boot id
 * names the machine in logs and to other software; so it is hashed, by SipHash-2-4, with the
 * boot id as the key and a constant as the message. SipHash's claim is that its key (here
 * 122 random bits) cannot be found from its output faster than by trying all of them. Nothing
 * else that is secret is needed: all on this machine may know the boot id, nobody else can
 * guess it. Of 64 bits, no two boots that meet have the same ones by chance. */
void mst_handover_boot(char boot[MST_HANDOVER_BOOT], const char *boot_id);

/* The part of the text that is the same for all requests of a server:
 * ":BOOT:TIMENS". Made once, so that a request formats two numbers. */
size_t mst_handover_place(char text[MST_HANDOVER_MAX], const char *boot,
                          uint64_t time_namespace);

/* Writes the whole text. place: as made above. Returns its length. */
size_t mst_handover_format(char text[MST_HANDOVER_MAX], uint64_t id, uint64_t time_ns,
                           const char *place);

/* Reads the text, strictly. Returns false where it is not one; *out is then anything. */
bool mst_handover_parse(struct mst_handover *out, const char *text);

/* The same for texts of one place, made as above, and faster: reads the two numbers.
 * False where it is no text of that place. */
bool mst_handover_parse_here(const char *text, const char *place, uint64_t *id,
                             uint64_t *time_ns);

/* The time between a hand-over and now_ns, both on this machine's clock; MST_UNKNOWN
 * where the text is of another boot or time namespace, or it is not known of which, or
 * from the future. */
uint64_t mst_handover_wait(const struct mst_handover *handover, const char *boot,
                           uint64_t time_namespace, uint64_t now_ns);

/* Nanoseconds since 1970 of an X-Request-Start value; MST_UNKNOWN where it is none, or
 * several (each proxy on the way added its own: httpd joins them with commas). */
uint64_t mst_request_start_parse(const char *value);

/* The time from then to wall_ns (since 1970). A moment after it (two machines' clocks,
 * rounding up) is 0; more than MST_REQUEST_START_SKEW_NS after it, or longer ago than
 * MST_REQUEST_START_MAX_NS, is MST_UNKNOWN: a wrong clock, no wait. */
#define MST_REQUEST_START_SKEW_NS UINT64_C(1000000000)      /* 1 s */
#define MST_REQUEST_START_MAX_NS  UINT64_C(3600000000000)   /* an hour: no client waits so long */
uint64_t mst_request_start_age(uint64_t request_start_ns, uint64_t wall_ns);

#endif

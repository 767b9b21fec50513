/* handover.h - what one server tells the next about a request, as text.
 *
 * MPMSTAT is the environment variable with which Apache hands a request to PHP, CGI or FastCGI:
 * "ID:TIME:BOOT:TIMENS", that is the request's id on Apache's board, the CLOCK_MONOTONIC
 * nanoseconds of the hand-over, and where that clock is valid (a hash of the kernel's boot id,
 * the inode of the time namespace; 0: unknown), for example
 *     4294967297:86500123456789:dad4a49988018922:4026531834
 * X-Request-Start is the header with which front proxies say when they began with a request:
 * seconds, milliseconds, microseconds or nanoseconds since 1970, with or without "t=" in front.
 * The size of the number tells its unit.
 *
 * Written by: mod_mpmstat, front proxies. Read by: PHP's extension, mod_mpmstat. Both texts come
 * from other processes: nothing in them is trusted.
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

/* Sets BOOT for a kernel's boot id: 16 hexadecimal digits; "" for an empty one.
 *
 * The text is in phpinfo() and goes to FastCGI servers on other machines, and the boot id
 * names the machine in logs and to other software; so it is hashed by SipHash-2-4, with
 * the boot id as the key and a constant as the message. SipHash claims that its key (here 122
 * random bits) cannot be found from its output faster than by trying all keys. No other secret
 * is needed: every process of this machine may know the boot id, and no other machine can guess
 * it. 64 bits are enough that two boots do not have the same hash by chance. */
void mst_handover_boot(char boot[MST_HANDOVER_BOOT], const char *boot_id);

/* The part of the text that is the same for all requests of a server:
 * ":BOOT:TIMENS". It is made once, so that a request formats only two numbers. Returns its
 * length. */
size_t mst_handover_place(char text[MST_HANDOVER_MAX], const char *boot,
                          uint64_t time_namespace);

/* Writes the whole text. place: mst_handover_place()'s. Returns its length. */
size_t mst_handover_format(char text[MST_HANDOVER_MAX], uint64_t id, uint64_t time_ns,
                           const char *place);

/* Reads the text, strictly. Returns false where it is malformed; *out is then undefined. */
bool mst_handover_parse(struct mst_handover *out, const char *text);

/* The same, faster, for texts of one place (mst_handover_place()'s): reads the two numbers.
 * Returns false where the text is malformed or of another place. */
bool mst_handover_parse_here(const char *text, const char *place, uint64_t *id,
                             uint64_t *time_ns);

/* Nanoseconds since 1970 of an X-Request-Start value; MST_UNKNOWN where it is malformed, or
 * holds several values (httpd joins those of several proxies with commas). */
uint64_t mst_request_start_parse(const char *value);

/* The time in ns from request_start_ns to wall_ns, both since 1970. It is 0 where the start is
 * up to MST_REQUEST_START_SKEW_NS later (two machines' clocks, rounding up). It is MST_UNKNOWN
 * where the start is still later, or longer ago than MST_REQUEST_START_MAX_NS: a wrong clock. */
#define MST_REQUEST_START_SKEW_NS UINT64_C(1000000000)      /* 1 s */
#define MST_REQUEST_START_MAX_NS  UINT64_C(3600000000000)   /* an hour: no client waits so long */
uint64_t mst_request_start_age(uint64_t request_start_ns, uint64_t wall_ns);

#endif

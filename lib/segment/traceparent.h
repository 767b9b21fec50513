/* traceparent.h - the header traceparent of W3C Trace Context: what the module reads, and the
 * journal's JSON repeats.
 */
#ifndef MPMSTAT_TRACEPARENT_H
#define MPMSTAT_TRACEPARENT_H

#include <stdbool.h>
#include <stdint.h>

#define MST_TRACEPARENT_SIZE 56u   /* of the text of version 00, with its NUL */
#define MST_TRACE_SAMPLED    0x01u

struct mst_traceparent {
    uint64_t trace_high, trace_low;   /* not both 0, where there is one */
    uint64_t parent;                  /* not 0, where there is one */
    uint32_t flags;                   /* 8 bits */
};

/* Strict, as the specification asks: lower-case hex; version 00 has 55 characters, a later one may
 * have more behind a '-', of whose flags only the first is known; ids of zeroes are none. False:
 * it is not a trace, and *to is unchanged. Reads at most 56 characters. */
bool mst_traceparent_parse(const char *text, struct mst_traceparent *to);

/* As version 00. */
void mst_traceparent_format(const struct mst_traceparent *trace, char text[MST_TRACEPARENT_SIZE]);

/* Derives an id for a request's spans: `which` selects the span, or one half of the trace id for a
 * request without a trace. The exports, and the module that hands a request on, derive the same id.
 * It is never 0, because 0 is not a valid id. */
struct mst_span_of {
    uint64_t started_ns, pid;   /* of the server: since 1970 */
    uint64_t request;
};
enum { MST_SPAN_TRACE_HIGH, MST_SPAN_TRACE_LOW, MST_SPAN_SERVER, MST_SPAN_CHILDREN };
uint64_t mst_span_id(const struct mst_span_of *of, uint64_t which);

/* `digits` lower-case hexadecimal digits, and a NUL. */
void mst_hex(char *to, uint64_t n, unsigned digits);

#endif

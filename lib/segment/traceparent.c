/* traceparent.c - parses and formats traceparent: see traceparent.h. */
#include "segment/traceparent.h"

#include "base/siphash.h"

/* Takes a field of hex digits and what ends it; '\0' stands for the end of the field alone. */
static bool take_hex(const char **text, unsigned digits, char end, uint64_t *to)
{
    const char *c = *text;
    uint64_t n = 0;

    for (; digits > 0; digits--, c++) {
        if (*c >= '0' && *c <= '9')
            n = n << 4 | (uint64_t)(*c - '0');
        else if (*c >= 'a' && *c <= 'f')
            n = n << 4 | (uint64_t)(*c - 'a' + 10);
        else
            return false;
    }
    if (end != '\0' && *c++ != end)
        return false;
    *to = n;
    *text = c;
    return true;
}

bool mst_traceparent_parse(const char *text, struct mst_traceparent *to)
{
    struct mst_traceparent t;
    uint64_t version, flags;

    if (!take_hex(&text, 2, '-', &version) || version == 0xff ||
        !take_hex(&text, 16, '\0', &t.trace_high) || !take_hex(&text, 16, '-', &t.trace_low) ||
        !take_hex(&text, 16, '-', &t.parent) || !take_hex(&text, 2, '\0', &flags) ||
        (*text != '\0' && (version == 0 || *text != '-')) ||
        (t.trace_high | t.trace_low) == 0 || t.parent == 0)
        return false;
    t.flags = (uint32_t)(version == 0 ? flags : flags & MST_TRACE_SAMPLED);
    *to = t;
    return true;
}

void mst_hex(char *to, uint64_t n, unsigned digits)
{
    to[digits] = '\0';
    for (; digits > 0; n >>= 4)
        to[--digits] = "0123456789abcdef"[n & 15];
}

void mst_traceparent_format(const struct mst_traceparent *trace, char text[MST_TRACEPARENT_SIZE])
{
    mst_hex(text, 0, 2);
    mst_hex(text + 3, trace->trace_high, 16);
    mst_hex(text + 19, trace->trace_low, 16);
    mst_hex(text + 36, trace->parent, 16);
    mst_hex(text + 53, trace->flags, 2);
    text[2] = text[35] = text[52] = '-';
}

/* The key only has to differ from those of other uses. */
uint64_t mst_span_id(const struct mst_span_of *of, uint64_t which)
{
    static const unsigned char key[MST_SIPHASH_KEY] = "mpmstat's spans";
    const uint64_t words[] = { of->started_ns, of->pid, of->request, which };
    uint64_t id = mst_siphash(key, words, sizeof words);

    return id != 0 ? id : 1;
}

/* cursor.c - parses and prints cursors: see cursor.h. Clients can send any text. */
#include "render/cursor.h"

#include <string.h>

static int digit_value(char c, unsigned base)
{
    const char *digits = "0123456789abcdef", *at = c == '\0' ? NULL : strchr(digits, c);

    return at != NULL && at - digits < (int)base ? (int)(at - digits) : -1;
}

/* Reads a number and the character after it. Returns the position behind them; NULL where there
 * is not a number, it has more than 64 bits, or another character follows. */
static const char *parse_number(const char *text, unsigned base, char after, uint64_t *number)
{
    uint64_t n = 0;
    int digit;

    if (digit_value(*text, base) < 0)
        return NULL;
    for (; (digit = digit_value(*text, base)) >= 0; text++)
        if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, (unsigned)digit, &n))
            return NULL;
    if (*text != after)
        return NULL;
    *number = n;
    return text + 1;
}

/* Reads the tickets of lifecycle events and of the later ring; 0 where there is none. */
static bool parse_tail(const char *text, struct mst_cursor *c)
{
    const char *later = parse_number(text, 10, '-', &c->lifecycle);

    c->later = 0;
    if (later == NULL)
        return parse_number(text, 10, '\0', &c->lifecycle) != NULL;
    return parse_number(later, 10, '\0', &c->later) != NULL && c->later > 0;
}

int mst_cursor_parse(struct mst_cursor *cursor, const char *text)
{
    struct mst_cursor c;

    if (strlen(text) >= MST_CURSOR_MAX
        || (text = parse_number(text, 16, '-', &c.started_ns)) == NULL
        || (text = parse_number(text, 10, '-', &c.request)) == NULL
        || !parse_tail(text, &c)
        || c.request == 0 || c.lifecycle == 0)
        return -1;
    *cursor = c;
    return 0;
}

void mst_cursor_print(struct mst_sink *sink, const struct mst_cursor *cursor)
{
    mst_sink_hex(sink, cursor->started_ns);
    mst_sink_char(sink, '-');
    mst_sink_u64(sink, cursor->request);
    mst_sink_char(sink, '-');
    mst_sink_u64(sink, cursor->lifecycle);
    if (cursor->later > 0) {
        mst_sink_char(sink, '-');
        mst_sink_u64(sink, cursor->later);
    }
}

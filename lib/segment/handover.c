/* handover.c - formats and parses MPMSTAT and X-Request-Start: see handover.h. */
#include "segment/handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "segment/format.h"

/* Writes n in decimal; returns the number of digits. Not printf(), which is slow: every request
 * that is handed over comes here. */
static size_t put_number(char *to, uint64_t n)
{
    char digits[20];   /* of 2^64 - 1 */
    size_t count = 0, i;

    do {
        digits[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    for (i = 0; i < count; i++)
        to[i] = digits[count - 1 - i];
    return count;
}

/* ---- which boot --------------------------------------------------------------------- */

/* The 16 bytes of a UUID. Of any other text: its first 32 hexadecimal digits. */
static void key_of(unsigned char key[MST_SIPHASH_KEY], const char *boot_id)
{
    static const char digits[] = "0123456789abcdef";
    size_t nibble = 0;

    memset(key, 0, MST_SIPHASH_KEY);
    for (; *boot_id && nibble < 2 * MST_SIPHASH_KEY; boot_id++) {
        const char *digit = strchr(digits, *boot_id);

        if (digit == NULL)
            continue;
        key[nibble / 2] |= (unsigned char)((digit - digits) << (nibble % 2 ? 0 : 4));
        nibble++;
    }
}

void mst_handover_boot(char boot[MST_HANDOVER_BOOT], const char *boot_id)
{
    static const char message[] = "mpmstat: hand-over";
    unsigned char key[MST_SIPHASH_KEY];

    boot[0] = '\0';
    if (boot_id[0] == '\0')
        return;
    key_of(key, boot_id);
    snprintf(boot, MST_HANDOVER_BOOT, "%016" PRIx64,
             mst_siphash(key, message, sizeof message - 1));
}

/* ---- MPMSTAT ------------------------------------------------------------------------ */

size_t mst_handover_place(char text[MST_HANDOVER_MAX], const char *boot,
                          uint64_t time_namespace)
{
    size_t n = strnlen(boot, MST_HANDOVER_BOOT - 1), at = 0;

    text[at++] = ':';
    memcpy(text + at, boot, n);
    at += n;
    text[at++] = ':';
    at += put_number(text + at, time_namespace);
    text[at] = '\0';
    return at;
}

size_t mst_handover_format(char text[MST_HANDOVER_MAX], uint64_t id, uint64_t time_ns,
                           const char *place)
{
    size_t at = put_number(text, id), n = strlen(place);

    text[at++] = ':';
    at += put_number(text + at, time_ns);
    memcpy(text + at, place, n + 1);
    return at + n;
}

/* Reads the decimal digits at *at. Returns false where there is none, or the number has more
 * than 64 bits. */
static bool take_number(const char **at, uint64_t *n)
{
    const char *p = *at;

    *n = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*n, 10u, n)
            || __builtin_add_overflow(*n, (uint64_t)(*p - '0'), n))
            return false;
    if (p == *at)
        return false;
    *at = p;
    return true;
}

/* Takes '-', too: other versions send the boot id itself, which is then of no known boot. */
static bool take_boot(const char **at, char boot[MST_HANDOVER_BOOT])
{
    size_t n = strspn(*at, "0123456789abcdef-");

    if (n >= MST_HANDOVER_BOOT)
        return false;
    memcpy(boot, *at, n);
    boot[n] = '\0';
    *at += n;
    return true;
}

bool mst_handover_parse(struct mst_handover *out, const char *text)
{
    return take_number(&text, &out->id) && *text++ == ':'
        && take_number(&text, &out->time_ns) && *text++ == ':'
        && take_boot(&text, out->boot) && *text++ == ':'
        && take_number(&text, &out->time_namespace) && *text == '\0';
}

bool mst_handover_parse_here(const char *text, const char *place, uint64_t *id, uint64_t *time_ns)
{
    return take_number(&text, id) && *text++ == ':' && take_number(&text, time_ns)
        && strcmp(text, place) == 0;
}

/* ---- X-Request-Start -------------------------------------------------------------- */

/* The nanoseconds of the unit in which `whole` counts since 1970; 0: none fits. Between 2001
 * and 2286 the numbers have 10, 13, 16 and 19 digits. */
static uint64_t unit_of(uint64_t whole)
{
    if (whole < UINT64_C(1000000000))
        return 0;
    if (whole < UINT64_C(10000000000))
        return MST_NS_PER_S;
    if (whole < UINT64_C(1000000000000))
        return 0;
    if (whole < UINT64_C(10000000000000))
        return MST_NS_PER_MS;
    if (whole < UINT64_C(1000000000000000))
        return 0;
    if (whole < UINT64_C(10000000000000000))
        return MST_NS_PER_US;
    return whole >= UINT64_C(1000000000000000000) ? 1 : 0;
}

uint64_t mst_request_start_parse(const char *value)
{
    uint64_t whole, unit, ns;

    value += strspn(value, " \t");
    if (value[0] == 't' && value[1] == '=')
        value += 2;
    if (!take_number(&value, &whole) || (unit = unit_of(whole)) == 0
        || __builtin_mul_overflow(whole, unit, &ns))
        return MST_UNKNOWN;
    if (value[0] == '.' && value[1] >= '0' && value[1] <= '9') {
        for (value++; *value >= '0' && *value <= '9'; value++) {
            unit /= 10;   /* 0 below a nanosecond */
            ns += unit * (uint64_t)(*value - '0');
        }
    }
    value += strspn(value, " \t");
    return *value == '\0' ? ns : MST_UNKNOWN;
}

uint64_t mst_request_start_age(uint64_t request_start_ns, uint64_t wall_ns)
{
    if (request_start_ns == MST_UNKNOWN)
        return MST_UNKNOWN;
    if (request_start_ns > wall_ns)
        return request_start_ns - wall_ns <= MST_REQUEST_START_SKEW_NS ? 0 : MST_UNKNOWN;
    return wall_ns - request_start_ns <= MST_REQUEST_START_MAX_NS ? wall_ns - request_start_ns
                                                                  : MST_UNKNOWN;
}

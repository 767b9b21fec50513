/* fuzz_handover.c - any bytes as what comes from elsewhere: as MPMSTAT, and as the
 * header X-Request-Start.
 */
#include <stdlib.h>
#include <string.h>

#include "segment/format.h"
#include "segment/handover.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool right)
{
    if (!right)
        abort();
}

/* What is taken can be handed on and means the same. */
static void handover(const char *text)
{
    struct mst_handover once, twice;
    char place[MST_HANDOVER_MAX], again[MST_HANDOVER_MAX];

    if (!mst_handover_parse(&once, text))
        return;
    expect(memchr(once.boot, '\0', sizeof once.boot) != NULL);
    mst_handover_place(place, once.boot, once.time_namespace);
    expect(mst_handover_format(again, once.id, once.time_ns, place) == strlen(again));
    expect(strlen(again) < sizeof again && mst_handover_parse(&twice, again));
    expect(twice.id == once.id && twice.time_ns == once.time_ns
           && strcmp(twice.boot, once.boot) == 0
           && twice.time_namespace == once.time_namespace);
}

/* What is taken is an instant between 2001 and 2554, where 64 bits end. */
static void request_start(const char *text)
{
    static const uint64_t now = UINT64_C(1800000000123456789);
    uint64_t start = mst_request_start_parse(text), age = mst_request_start_age(start, now);

    expect(start >= UINT64_C(1000000000000000000));
    expect(age == MST_UNKNOWN || age <= MST_REQUEST_START_MAX_NS);
    if (start == MST_UNKNOWN)
        expect(age == MST_UNKNOWN);
    else
        expect(mst_request_start_age(start, start) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    handover(text);
    request_start(text);
    free(text);
    return 0;
}

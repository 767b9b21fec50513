/* followed.c - see followed.h. */
#include <string.h>

#include "followed.h"
#include "harness.h"
#include "read/tail.h"
#include "write/journal.h"

struct mst_board board;
struct mst_reader reader;
struct mst_tail tail;
char error[MST_ERROR_MAX];

uint64_t given[4096], ids[4096];
size_t given_count, stop_after;

int remember(void *context, uint64_t ticket, const void *payload)
{
    (void)context;
    ck_assert_uint_lt(given_count, sizeof given / sizeof given[0]);
    given[given_count] = ticket;
    ids[given_count++] = ((const struct mst_request *)payload)->id;
    return given_count == stop_after;
}

void attach(const char *path, enum mst_section_id section, uint64_t next)
{
    given_count = stop_after = 0;
    ck_assert_msg(mst_reader_open(&reader, path, error) == 0, "%s", error);
    ck_assert_msg(mst_tail_open(&tail, &reader, section, next, error) == 0, "%s", error);
}

void make(uint32_t requests)
{
    struct mst_layout layout = test_layout();

    layout.requests = requests;
    test_board(&board, &layout);
    attach(board.path, MST_SECTION_REQUESTS, 1);
}

void tear_down(void)
{
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    mst_board_close(&board);
}

void serve(unsigned n)
{
    while (n-- > 0) {
        struct mst_request request = { .id = board.header->requests_written + 1001 };

        mst_journal_request(&board, &request);
    }
}

long poll_tail(size_t limit)
{
    long n = mst_tail_poll(&tail, limit, remember, NULL, error);

    ck_assert_msg(n >= 0, "%s", error);
    return n;
}

void assert_given(size_t count, uint64_t first)
{
    size_t i;

    ck_assert_uint_eq(given_count, count);
    for (i = 0; i < count; i++) {
        ck_assert_uint_eq(given[i], first + i);
        ck_assert_uint_eq(ids[i], first + i + 1000);
    }
}

void sign(struct mst_request *request, uint64_t id)
{
    uint64_t *words = (uint64_t *)request;
    size_t i;

    for (i = 0; i < MST_REQUEST_WORDS; i++)
        words[i] = id * (2 * i + 1);
}

int mark(void *context, uint64_t ticket, const void *payload)
{
    unsigned char *seen = context;
    struct mst_request expected;

    ck_assert_uint_lt(ticket, RECORDS_MAX);
    ck_assert_msg(seen[ticket] == 0, "record %llu was given twice", (unsigned long long)ticket);
    seen[ticket] = 1;
    sign(&expected, ((const struct mst_request *)payload)->id);
    ck_assert_int_eq(memcmp(payload, &expected, sizeof expected), 0);
    return 0;
}

/* fuzz_board.c - any bytes as a board's file: opened, copied, tailed and made
 * into a snapshot, as every reader does. Nothing but a refusal may come of it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read/call_place.h"
#include "read/copy.h"
#include "read/snapshot.h"
#include "read/tail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A reader of a record can look at all of it. context: its size. */
static int look_at_record(void *context, uint64_t ticket, const void *payload)
{
    static union {
        struct mst_request     request;
        struct mst_lifecycle   lifecycle;
        struct mst_php_request php_request;
        struct mst_mark        mark;
        struct mst_delivery    delivery;
        struct mst_code_sample code_sample;
    } seen;

    (void)ticket;
    memcpy(&seen, payload, *(const size_t *)context);
    return 0;
}

static void tail(const struct mst_reader *reader, enum mst_section_id section, size_t size)
{
    char error[MST_ERROR_MAX];
    struct mst_tail t;

    if (mst_tail_open(&t, reader, section, 1, error) == 0
        && mst_tail_poll(&t, 3, look_at_record, &size, error) >= 0
        && mst_tail_poll(&t, SIZE_MAX, look_at_record, &size, error) >= 0)
        mst_tail_finish(&t);
    mst_tail_close(&t);
}

/* The function that is named of each call stack. */
static void places(const struct mst_reader *reader)
{
    uint64_t count = mst_section_in(&reader->header, MST_SECTION_STACKS)->count, stack, index;
    struct mst_frame frame;

    for (stack = 0; stack < count && stack < 64; stack++)
        if (mst_call_place(reader, stack, &index, &frame) &&
            (memchr(frame.function, '\0', sizeof frame.function) == NULL ||
             memchr(frame.file, '\0', sizeof frame.file) == NULL))
            abort();
}

static void snapshot(const struct mst_reader *reader)
{
    struct mst_world world = { .running = -1 };
    char error[MST_ERROR_MAX];
    struct mst_snapshot s;
    struct mst_copy copy;

    if (mst_copy_take(&copy, reader, error) != 0)
        return;
    for (; world.running <= 1; world.running++) {
        if (mst_snapshot_make(&s, &copy, &world) == 0)
            mst_snapshot_free(&s);
    }
    mst_copy_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("board", MFD_CLOEXEC);
    char error[MST_ERROR_MAX];
    struct mst_reader reader;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (mst_reader_attach(&reader, fd, "fuzzed", error) == 0) {
        snapshot(&reader);
        tail(&reader, MST_SECTION_REQUESTS, sizeof(struct mst_request));
        tail(&reader, MST_SECTION_LIFECYCLE, sizeof(struct mst_lifecycle));
        tail(&reader, MST_SECTION_PHP_REQUESTS, sizeof(struct mst_php_request));
        tail(&reader, MST_SECTION_MARKS, sizeof(struct mst_mark));
        tail(&reader, MST_SECTION_DELIVERIES, sizeof(struct mst_delivery));
        tail(&reader, MST_SECTION_CODE_SAMPLES, sizeof(struct mst_code_sample));
        places(&reader);
        mst_reader_close(&reader);
    }
    close(fd);
    return 0;
}

/* fuzz_writer.c - any bytes in a board while a server writes to it: every function that the
 * module and the extension call on shared memory. The input is a script: words that another
 * process writes into the board, and calls. Nothing but wrong numbers may come of it: no access
 * outside the mapping (it lies between pages that nobody may touch), no index out of range, no
 * endless loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "segment/layout.h"
#include "write/build.h"
#include "write/busy.h"
#include "write/fork_table.h"
#include "write/journal.h"
#include "write/path.h"
#include "write/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE 4096u

static const struct mst_layout layouts[] = {
    { .producer = MST_PRODUCER_APACHE, .processes = 3, .threads_per_process = 2, .labels = 6,
      .stripes = 2, .requests = 8, .lifecycle = 8 },
    { .producer = MST_PRODUCER_PHP, .processes = 3, .threads_per_process = 1, .labels = 6,
      .stripes = 2, .requests = 8, .lifecycle = 8 },
};
static struct mst_board boards[2];
static void *pristine[2];

/* Moves the mapping between two pages without rights. */
static void fence(struct mst_board *b, const struct mst_layout *layout)
{
    struct mst_section sections[MST_SECTION_COUNT];
    char *fenced = mmap(NULL, b->bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (fenced == MAP_FAILED
        || mremap(b->header, b->bytes, b->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, fenced + PAGE)
           == MAP_FAILED)
        abort();
    mst_guard_end(&b->guard);   /* a fault here must be seen */
    b->header = (struct mst_header *)(fenced + PAGE);
    mst_layout_place(layout, sections);
    mst_board_locate(b, sections, layout->threads_per_process, layout->stripes);
}

static void make(size_t i)
{
    const struct mst_identity identity = { .server = "fuzzed", .workers_limit = 4 };
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX], path[64];
    int fd;

    snprintf(path, sizeof path, "%s/mpmstat-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    fd = mkstemp(path);   /* an empty file: a board may take its place */
    if (fd < 0 || mst_board_create(&boards[i], path, &layouts[i], &identity, (gid_t)-1, warning,
                                   error) != 0)
        abort();
    close(fd);
    unlink(path);
    fence(&boards[i], &layouts[i]);
    pristine[i] = malloc(boards[i].bytes);
    if (pristine[i] == NULL)
        abort();
    memcpy(pristine[i], boards[i].header, boards[i].bytes);
}

/* ---- the script ------------------------------------------------------------------------ */

struct script {
    const uint8_t *data;
    size_t         size;
};

static uint64_t take(struct script *s, size_t bytes)
{
    uint64_t value = 0;

    if (bytes > s->size)
        bytes = s->size;
    memcpy(&value, s->data, bytes);
    s->data += bytes;
    s->size -= bytes;
    return value;
}

/* Another process of the server writes a word, or the same word over a range. */
static void scribble(struct mst_board *b, struct script *s)
{
    uint64_t *words = (uint64_t *)b->header;
    size_t count = b->bytes / sizeof *words, at = take(s, 3) % count, run = take(s, 1), i;
    uint64_t word = take(s, 8);

    for (i = 0; i <= run * run && at + i < count; i++)
        words[at + i] = word;
}

static void ended(void *context, uint64_t pid, const struct mst_process_end *end)
{
    struct mst_lifecycle e = { .event_kind = (uint64_t)MST_EVENT_EXIT << 32 | pid % 8,
                               .requests = end->requests, .unfinished = end->unfinished,
                               .reason = pid % 8 };

    mst_journal_lifecycle(context, &e);
}

static void serve(struct mst_board *b, int process, struct script *s)
{
    struct mst_worker *w = &b->workers[(size_t)process * b->threads];
    uint32_t label = mst_label_intern(b, "site.example");
    struct mst_php_request php = { .id = 1 };
    struct mst_request request = { .id = 1 };
    struct mst_mark mark = { .pid = 1 };
    uint64_t now = take(s, 8);

    if (label >= b->label_count)
        abort();
    mst_busy_begin(b, &b->processes[process], now);
    now = mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), now);
    mst_worker_show(w, 0, now, label);
    mst_count(&mst_counters_of(b, label, (uint32_t)take(s, 1))->status[1], 1);
    mst_histogram_record(&mst_counters_of(b, label, 1)->times[0], now);
    if (b == &boards[0])
        mst_journal_request(b, &request);
    else {
        mst_journal_php_request(b, &php);
        mst_journal_mark(b, &mark);
    }
    scribble(b, s);
    mst_worker_show_none(w);
    mst_worker_enter(w, MST_STATE_IDLE, mst_worker_since(w), now);
    mst_busy_end(b, &b->processes[process], now);
}

static void fork_and_end(struct mst_board *b, struct script *s)
{
    const struct mst_fork fork = { .pid = take(s, 4), .kind = MST_KIND_HELPER };
    struct mst_fork *added = mst_fork_add(b, &fork);
    uint32_t i, end;

    scribble(b, s);
    end = mst_fork_end(b);
    for (i = 0; i < end; i++)
        mst_fork_pid(&b->forks[i]);
    if (added != NULL && mst_fork_take(added, mst_fork_pid(added)))
        mst_fork_free(added);
    mst_fork_forget(b, fork.pid);
    mst_fork_reclaim(b);
}

static void name_label(struct mst_board *b, struct script *s, uint64_t number)
{
    const struct mst_tenant tenant = { .owner = take(s, 1), .quota = 2, .share = 3 };
    char name[MST_NAME_MAX + 8], copy[MST_NAME_MAX];
    uint32_t index = 0;

    snprintf(name, sizeof name, "%016llx", (unsigned long long)number);
    if (mst_label_intern(b, name) >= b->label_count
        || mst_label_reserve(b, name + 1) >= b->label_count
        || (mst_label_intern_tenant(b, name + 2, &tenant, &index) && index >= b->label_count))
        abort();
    mst_label_read(b, index, copy);
    if (strlen(copy) >= sizeof copy)
        abort();
}

static void name_path(struct mst_board *b, struct script *s, uint64_t number)
{
    char target[32], name[MST_PATH_NAME_MAX];

    snprintf(target, sizeof target, "/%016llx/x", (unsigned long long)number);
    if (b->path_count > 0
        && (!mst_path_fold(target, false, name)
            || mst_path_find(b, name, (enum mst_path_answer)(take(s, 1) % 3)) >= b->path_count))
        abort();
}

static void call(struct mst_board *b, struct script *s, unsigned which)
{
    const struct mst_identity identity = { .server = "again", .workers_limit = take(s, 8) };
    struct mst_process_end end;
    uint64_t now = take(s, 8);
    int process;

    switch (which) {
    case 0: scribble(b, s); break;
    case 1:
        process = mst_process_claim(b, (uint64_t)getpid(), 1, now);
        if (process < -1 || process >= (int)b->process_count)
            abort();
        if (process >= 0)
            serve(b, process, s);
        break;
    case 2: mst_process_release(b, (uint64_t)getpid(), now, &end); break;
    case 3: mst_process_sweep(b, now & 1, now, ended, b); break;
    case 4: mst_process_any(b); break;
    case 5: fork_and_end(b, s); break;
    case 6: name_label(b, s, now); break;
    case 7: mst_busy_correct(b, now); break;
    case 8: mst_busy_tell(b, now); break;
    case 9: mst_board_identify(b, &identity); mst_busy_update(b, now); break;
    case 10: name_path(b, s, now); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script s = { data, size };
    struct mst_board *b;
    size_t i;

    for (i = 0; i < 2 && pristine[i] == NULL; i++)
        make(i);
    i = take(&s, 1) & 1;
    b = &boards[i];
    memcpy(b->header, pristine[i], b->bytes);
    while (s.size > 0)
        call(b, &s, (unsigned)take(&s, 1) % 11);
    return 0;
}

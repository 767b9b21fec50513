/* chaos.c - what hostile native code in a worker does to the board of its server. For the tests:
 * mod_chaos.c calls it in Apache, chaos.php (by FFI) in PHP.
 */
#include "chaos.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct mapping {
    char  *begin;
    size_t bytes;
};

/* Whether a line of /proc/self/maps ends with that path: a board that another has replaced
 * has " (deleted)" behind it. */
static int is_of(const char *line, const char *board)
{
    size_t length = strlen(line), wanted = strlen(board);

    return length > wanted + 1 && memcmp(line + length - 1 - wanted, board, wanted) == 0;
}

/* The board, as it is mapped in this process; bytes 0: not (any more). Of a mapping in pieces,
 * the first piece. */
static struct mapping find(const char *board)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    struct mapping found = { NULL, 0 };
    unsigned long begin, end;
    char line[1024];

    while (maps && found.bytes == 0 && fgets(line, sizeof line, maps))
        if (is_of(line, board) && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            found = (struct mapping){ (char *)begin, end - begin };
    if (maps)
        fclose(maps);
    return found;
}

/* Tries to write to every descriptor of the board, and to open each again for writing. Returns
 * how many it could. */
static long truncate_board(const char *board)
{
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *entry;
    long done = 0;

    while (fds && (entry = readdir(fds))) {
        char link[300], target[512] = "";
        int again;

        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        if (readlink(link, target, sizeof target - 1) < 0 || strcmp(target, board) != 0)
            continue;
        done += ftruncate(atoi(entry->d_name), 0) == 0;
        again = open(link, O_RDWR);
        if (again >= 0) {
            done += ftruncate(again, 0) == 0;
            close(again);
        }
    }
    if (fds)
        closedir(fds);
    return done;
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static long scribble(struct mapping m, uint64_t seed, long count)
{
    uint64_t *words = (uint64_t *)m.begin, state = seed * 2654435761u + 1;
    long i;

    for (i = 0; i < count; i++) {
        uint64_t at = next(&state) % (m.bytes / 8), word = next(&state);

        /* Small, enormous, and negative ones reach other code than random bits. */
        if (word % 3 != 2)
            word = word % 3 == 0 ? word % 16 : ~(word % 16);
        __atomic_store_n(&words[at], word, __ATOMIC_RELAXED);
    }
    return count;
}

/* The first pages, which hold the header, the totals, the processes and the workers, get more. */
static struct mapping head_of(struct mapping m)
{
    m.bytes = m.bytes < 65536 ? m.bytes : 65536;
    return m;
}

long chaos(const char *what, const char *board, long seed)
{
    struct mapping m = find(board);

    if (strcmp(what, "truncate") == 0)
        return truncate_board(board);
    if (m.bytes == 0)
        return -1;
    if (strcmp(what, "scribble") == 0)
        return scribble(m, (uint64_t)seed, 2000) + scribble(head_of(m), (uint64_t)seed + 1, 500);
    if (strcmp(what, "punch") == 0)
        return madvise(m.begin, m.bytes, MADV_REMOVE) == 0;
    if (strcmp(what, "unmap") == 0)
        return munmap(m.begin, m.bytes) == 0;
    return -2;
}

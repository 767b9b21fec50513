/* ownership.c - whose a process is: see ownership.h. */
#include "system/ownership.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "segment/format.h"

#define INIT_PID    1u
#define KTHREADD    2u          /* the parent of the kernel's threads */
#define GROUPS_MAX  4096u       /* of /proc/PID/cgroup: some lines of at most PATH_MAX */
#define TABLE_MAX   (4u << 20)  /* of /proc/PID/net/tcp */
#define TCP_LISTEN  0x0au
#define UNIX_ACCEPTS 0x10000u   /* __SO_ACCEPTCON of <linux/net.h> */

#define X_NAME(id, name) name,
const char *const mst_proc_owner_names[MST_PROC_OWNER_COUNT] = { MST_PROC_OWNERS(X_NAME) };

/* ---- by descent ----------------------------------------------------------------------- */

static const struct mst_proc_root *root_of(const struct mst_proc *proc,
                                           const struct mst_proc_root *roots, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (roots[i].pid == proc->pid &&
            (roots[i].start_ticks == 0 || roots[i].start_ticks == proc->start_ticks))
            return &roots[i];
    return NULL;
}

/* Processes end while /proc is read, so that the parents of a list could form a circle. */
static enum mst_proc_owner by_descent(const struct mst_proc_list *list,
                                      const struct mst_proc *proc,
                                      const struct mst_proc_root *roots, size_t count)
{
    const struct mst_proc_root *root;
    size_t steps = list->count;

    for (; proc != NULL && steps-- > 0; proc = mst_proc_find(list, proc->parent)) {
        root = root_of(proc, roots, count);
        if (root != NULL)
            return root->owner;
    }
    return MST_PROC_OTHER;
}

static bool is_above(const struct mst_proc_list *list, const struct mst_proc *proc, uint64_t pid)
{
    const struct mst_proc *below = mst_proc_find(list, pid);
    size_t steps = list->count;

    while (below != NULL && below != proc && steps-- > 0)
        below = mst_proc_find(list, below->parent);
    return below == proc;
}

/* ---- by control groups ------------------------------------------------------------------ */

/* All groups of a process, of each hierarchy of version 1 and of version 2. */
static bool read_groups(uint64_t pid, char text[GROUPS_MAX])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cgroup", pid);
    return mst_proc_read(path, text, GROUPS_MAX) > 0;
}

/* Whether the control groups tell a server's processes from others: they are neither the recorder's
 * nor those of the process that started the server, as a container's are, whose supervisor starts a
 * database in them, too. */
static bool are_the_servers_own(const char *groups, const char *ours,
                                const struct mst_proc *server)
{
    static char starter[GROUPS_MAX];

    return strcmp(groups, ours) != 0 &&
           (!read_groups(server->parent, starter) || strcmp(groups, starter) != 0);
}

/* Whether the process can be one of the server's whose parent has ended: it has no known owner, and
 * began no earlier than the server. Which process is its parent now (init or a reaper) is not
 * checked. */
static bool is_orphan_of(const struct mst_proc *proc, const struct mst_proc *server)
{
    return proc->owner == MST_PROC_OTHER && proc->pid != INIT_PID && proc->pid != KTHREADD &&
           proc->parent != KTHREADD && proc->start_ticks >= server->start_ticks;
}

static void take_group(struct mst_proc_list *list, const struct mst_proc *server,
                       const char *groups)
{
    static char theirs[GROUPS_MAX];
    size_t i;

    for (i = 0; i < list->count; i++) {
        struct mst_proc *proc = &list->items[i];

        if (is_orphan_of(proc, server) && !is_above(list, proc, server->pid) &&
            read_groups(proc->pid, theirs) && strcmp(theirs, groups) == 0)
            proc->owner = MST_PROC_SERVER;
    }
}

static void find_orphans(struct mst_proc_list *list, const struct mst_proc_root *roots,
                         size_t count)
{
    static char ours[GROUPS_MAX], groups[GROUPS_MAX];
    const struct mst_proc *server;
    size_t i;

    if (!read_groups((uint64_t)getpid(), ours))
        return;
    for (i = 0; i < count; i++) {
        server = mst_proc_find(list, roots[i].pid);
        if (roots[i].owner == MST_PROC_SERVER && server != NULL &&
            root_of(server, &roots[i], 1) != NULL && read_groups(server->pid, groups) &&
            are_the_servers_own(groups, ours, server))
            take_group(list, server, groups);
    }
}

void mst_ownership_find(struct mst_proc_list *list, const struct mst_proc_root *roots,
                        size_t count)
{
    struct mst_proc *self;
    size_t i;

    for (i = 0; i < list->count; i++)
        list->items[i].owner = (unsigned char)by_descent(list, &list->items[i], roots, count);
    self = mst_proc_find(list, (uint64_t)getpid());
    if (self != NULL)
        self->owner = MST_PROC_RECORDER;
    find_orphans(list, roots, count);
}

/* ---- by listening sockets --------------------------------------------------------------- */

/* A line of /proc/net/tcp: "  0: 0100007F:2328 00000000:0000 0A ... inode". Only sockets count that
 * listen on all addresses or the loopback one. An address's words have the machine's byte order. */
uint64_t mst_listening_tcp(const char *table, unsigned port)
{
    static const char *const locals[] = {
        "00000000", "0100007F", "00000000000000000000000000000000",
        "00000000000000000000000001000000", "0000000000000000FFFF00000100007F",
    };
    unsigned its_port, state;
    const char *line;
    char address[33];
    uint64_t inode;
    size_t i;

    for (line = table; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, " %*[^:]: %32[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %" SCNu64, address,
                   &its_port, &state, &inode) != 4 || its_port != port || state != TCP_LISTEN)
            continue;
        for (i = 0; i < sizeof locals / sizeof *locals; i++)
            if (strcmp(address, locals[i]) == 0)
                return inode;
    }
    return 0;
}

/* A line of /proc/net/unix: "0000000000000000: 00000002 00000000 00010000 0001 01 inode path". */
uint64_t mst_listening_unix(const char *table, const char *path, bool is_cut)
{
    size_t length = strlen(path);
    const char *line;
    unsigned flags;
    uint64_t inode;
    int used;

    for (line = table; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        used = 0;
        if (sscanf(line, "%*[^:]: %*s %*s %x %*s %*s %" SCNu64 " %n", &flags, &inode,
                   &used) == 2 && used > 0 && (flags & UNIX_ACCEPTS) != 0 &&
            strncmp(line + used, path, length) == 0 &&
            (is_cut || line[used + length] == '\n' || line[used + length] == '\0'))
            return inode;
    }
    return 0;
}

/* The text of such a table, to be freed; NULL where it cannot be read. */
static char *read_table(uint64_t near, const char *name)
{
    char *table = malloc(TABLE_MAX), file[64];

    snprintf(file, sizeof file, "/proc/%" PRIu64 "/net/%s", near, name);
    if (table == NULL || mst_proc_read(file, table, TABLE_MAX) > 0)
        return table;
    free(table);
    return NULL;
}

static uint64_t tcp_socket(uint64_t near, const char *name, unsigned port)
{
    char *table = read_table(near, name);
    uint64_t inode = table != NULL ? mst_listening_tcp(table, port) : 0;

    free(table);
    return inode;
}

static uint64_t unix_socket(uint64_t near, const char *path, bool is_cut)
{
    char *table = read_table(near, "unix");
    uint64_t inode = table != NULL ? mst_listening_unix(table, path, is_cut) : 0;

    free(table);
    return inode;
}

/* "127.0.0.1:9000", "localhost:9000", "[::1]:9000"; of another machine 0. */
static unsigned local_port(const char *host)
{
    static const char *const locals[] = { "localhost:", "127.0.0.1:", "[::1]:" };
    char *end;
    unsigned long port;
    size_t i;

    for (i = 0; i < sizeof locals / sizeof *locals; i++) {
        if (strncmp(host, locals[i], strlen(locals[i])) != 0 ||
            !isdigit((unsigned char)host[strlen(locals[i])]))
            continue;
        port = strtoul(host + strlen(locals[i]), &end, 10);
        return (*end == '\0' || *end == '/') && port <= UINT16_MAX ? (unsigned)port : 0;
    }
    return 0;
}

uint64_t mst_backend_socket(uint64_t near, const char *backend)
{
    const char *host = strstr(backend, "://");
    bool is_cut = strchr(backend, '|') == NULL && strlen(backend) == MST_NAME_MAX - 1;
    char path[128];
    uint64_t inode;
    unsigned port;

    if (sscanf(backend, "unix:%127[^|]", path) == 1)
        return unix_socket(near, path, is_cut);
    port = host != NULL ? local_port(host + 3) : 0;
    if (port == 0)
        return 0;
    inode = tcp_socket(near, "tcp", port);
    return inode != 0 ? inode : tcp_socket(near, "tcp6", port);
}

/* Whether it has one of the sockets. */
static bool has_socket(uint64_t pid, const uint64_t *sockets, size_t count)
{
    struct dirent *entry;
    bool found = false;
    char path[64], link[64];
    uint64_t inode;
    ssize_t n;
    size_t i;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd", pid);
    dir = opendir(path);
    while (!found && dir != NULL && (entry = readdir(dir)) != NULL) {
        n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (sscanf(link, "socket:[%" SCNu64 "]", &inode) != 1)
            continue;
        for (i = 0; i < count; i++)
            found = found || sockets[i] == inode;
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

/* Init, and what is above the recorder, can hold a service's socket for it (socket activation). */
void mst_ownership_find_backends(struct mst_proc_list *list, const uint64_t *sockets, size_t count)
{
    struct mst_proc_root root = { .owner = MST_PROC_SERVER };
    size_t i, k;

    for (i = 0; i < list->count && count > 0; i++) {
        struct mst_proc *proc = &list->items[i];

        if (proc->owner != MST_PROC_OTHER || proc->pid == INIT_PID || proc->parent == KTHREADD ||
            is_above(list, proc, (uint64_t)getpid()) || !has_socket(proc->pid, sockets, count))
            continue;
        root.pid = proc->pid;
        for (k = 0; k < list->count; k++)
            if (list->items[k].owner == MST_PROC_OTHER &&
                by_descent(list, &list->items[k], &root, 1) == MST_PROC_SERVER)
                list->items[k].owner = MST_PROC_SERVER;
    }
}

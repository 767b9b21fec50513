/* uninstrumented.c - servers that run without mpmstat: see uninstrumented.h. */
#include "system/uninstrumented.h"

#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/strings.h"
#include "system/proc.h"

#define FPM          "php-fpm"     /* a version may follow: php-fpm8.2 */
#define VERSION_MAX  16u
#define PATH_BYTES   256u
#define SERVERS_SAID 3u

/* Asked besides: where the servers that are recorded have their boards. */
#define ASK_BOARDS 4u

/* What a server's parent process has mapped. */
struct mapped {
    bool known;               /* its mappings can be read */
    bool module, extension;   /* mod_mpmstat.so; mpmstat.so, for PHP */
    bool mod_php;
    char php_version[VERSION_MAX];
    char board[PATH_BYTES];   /* "": none */
};

/* The sentences about servers; what does not fit is cut. */
struct sentences { char *text; size_t size, used; unsigned count; };

/* ---- what it has loaded ------------------------------------------------------------ */

static void note_file(struct mapped *m, const char *path)
{
    const char *name = strrchr(path, '/') + 1, *end = strrchr(name, '.');

    if (end == NULL)
        return;
    if (strcmp(name, "mod_mpmstat.so") == 0) {
        m->module = true;
    } else if (strcmp(name, "mpmstat.so") == 0) {
        m->extension = true;
    } else if (strncmp(name, "libphp", 6) == 0 && strcmp(end, ".so") == 0) {
        m->mod_php = true;
        snprintf(m->php_version, sizeof m->php_version, "%.*s", (int)(end - name - 6), name + 6);
    } else if (strcmp(end, ".board") == 0) {
        snprintf(m->board, sizeof m->board, "%s", path);
    }
}

static struct mapped look_at(uint64_t pid)
{
    struct mapped m = { 0 };
    char path[64], *line = NULL, *file;
    size_t room = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", pid);
    maps = fopen(path, "re");
    if (maps == NULL)
        return m;
    while (getline(&line, &room, maps) > 0) {
        m.known = true;
        line[strcspn(line, "\n")] = '\0';
        file = strchr(line, '/');
        if (file != NULL)
            note_file(&m, file);
    }
    free(line);
    fclose(maps);
    return m;
}

/* Whether it has the files that this process has: another container's server is started, and set
 * up, there. */
static bool is_of_this_container(uint64_t pid)
{
    struct stat its, ours;
    char path[64];

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/ns/mnt", pid);
    return stat(path, &its) != 0 || stat("/proc/self/ns/mnt", &ours) != 0 ||
           (its.st_ino == ours.st_ino && its.st_dev == ours.st_dev);
}

/* ---- how to load it ----------------------------------------------------------------- */

static bool exists(const char *pattern)
{
    glob_t found;
    bool any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return any;
}

__attribute__((format(printf, 2, 3)))
static void append_sentence(struct sentences *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    s->used = mst_string_append(s->text, s->size, s->used, format, args);
    va_end(args);
}

/* The sentence of a server that lacks a module of its own or an extension. */
static void add_missing(struct sentences *s, const struct mst_proc *proc, const char *what)
{
    append_sentence(s, "%s%s (process %" PRIu64 ") runs without %s", s->count++ > 0 ? ". " : "",
                    proc->name, proc->pid, what);
}

static void add_apache(struct sentences *s, const struct mst_proc *proc)
{
    add_missing(s, proc, "mod_mpmstat");
    if (exists("/etc/apache2/mods-enabled/mpmstat.load"))
        append_sentence(s, ", although that is enabled: systemctl reload apache2");
    else if (exists("/etc/apache2/mods-available/mpmstat.load"))
        append_sentence(s, ": a2enmod mpmstat, then systemctl reload apache2");
    else
        append_sentence(s, ": install libapache2-mod-mpmstat, or load mod_mpmstat.so (LoadModule)");
}

/* sapi: the directory of its settings on Debian; service: the one to reload. */
static void add_php(struct sentences *s, const struct mst_proc *proc, const char *version,
                    const char *sapi, const char *service)
{
    char pattern[PATH_BYTES];

    add_missing(s, proc, strcmp(sapi, "fpm") == 0 ? "the extension mpmstat" :
                                                    "the extension mpmstat in its mod_php");
    snprintf(pattern, sizeof pattern, "/etc/php/%s/%s/conf.d/*mpmstat.ini", version, sapi);
    if (version[0] != '\0' && exists(pattern)) {
        append_sentence(s, ", although that is enabled: systemctl reload %s", service);
        return;
    }
    snprintf(pattern, sizeof pattern, "/etc/php/%s/mods-available/mpmstat.ini", version);
    if (version[0] != '\0' && exists(pattern))
        append_sentence(s, ": phpenmod -v %s -s %s mpmstat, then systemctl reload %s", version,
                        sapi, service);
    else
        append_sentence(s, ": install php-mpmstat, or set extension=mpmstat.so in its php.ini");
}

/* ---- which servers run ---------------------------------------------------------------- */

static bool is_apache(const struct mst_proc *proc)
{
    return strcmp(proc->name, "apache2") == 0 || strcmp(proc->name, "httpd") == 0;
}

static bool is_fpm(const struct mst_proc *proc)
{
    return strncmp(proc->name, FPM, strlen(FPM)) == 0;
}

/* Whether it is the parent of a server's processes. */
static bool is_first(const struct mst_proc_list *list, const struct mst_proc *proc)
{
    const struct mst_proc *parent = mst_proc_find(list, proc->parent);

    return proc->state != 'Z' && (parent == NULL || strcmp(parent->name, proc->name) != 0);
}

static void ask_apache(struct sentences *s, const struct mst_proc *proc, unsigned ask)
{
    const struct mapped m = look_at(proc->pid);

    if (!m.known || !is_of_this_container(proc->pid))
        return;
    if ((ask & MST_ASK_APACHE) && !m.module)
        add_apache(s, proc);
    if ((ask & MST_ASK_PHP) && m.mod_php && !m.extension)
        add_php(s, proc, m.php_version, "apache2", "apache2");
    if ((ask & ASK_BOARDS) && m.module && m.board[0] != '\0')
        append_sentence(s, "%s%s (process %" PRIu64 ") has its board at %s: name that file "
                        "(mpmstat record: behind -t)", s->count++ > 0 ? ". " : "", proc->name,
                        proc->pid, m.board);
}

static void ask_fpm(struct sentences *s, const struct mst_proc *proc)
{
    const struct mapped m = look_at(proc->pid);
    const char *version = proc->name + strlen(FPM);
    char service[64];

    if (!m.known || m.extension || !is_of_this_container(proc->pid))
        return;
    snprintf(service, sizeof service, "php%s-fpm", version);
    add_php(s, proc, version, "fpm", service);
}

static bool is_instead(const struct mst_proc *proc, uint64_t pid, uint64_t since_ns)
{
    struct timespec boot = { 0 };
    uint64_t began_ns;

    clock_gettime(CLOCK_BOOTTIME, &boot);
    began_ns = mst_realtime_ns() - ((uint64_t)boot.tv_sec * MST_NS_PER_S + (uint64_t)boot.tv_nsec) +
               mst_ticks_to_ns(proc->start_ticks);
    return proc->pid == pid || began_ns + MST_NS_PER_S > since_ns;   /* to a second */
}

static bool say(unsigned ask, uint64_t pid, uint64_t since_ns, char *text, size_t size)
{
    struct sentences s = { text, size, 0, 0 };
    struct mst_proc_list list = { 0 };
    bool fine = mst_proc_scan(&list);
    size_t i;

    text[0] = '\0';
    for (i = 0; i < list.count && fine && s.count < SERVERS_SAID; i++) {
        const struct mst_proc *proc = &list.items[i];

        if (!is_first(&list, proc) || !is_instead(proc, pid, since_ns))
            continue;
        if (is_apache(proc))
            ask_apache(&s, proc, ask);
        else if (is_fpm(proc) && (ask & MST_ASK_PHP))
            ask_fpm(&s, proc);
    }
    mst_proc_free(&list);
    return text[0] != '\0';
}

bool mst_uninstrumented_say(unsigned ask, char *text, size_t size)
{
    return say(ask & MST_ASK_APACHE ? ask | ASK_BOARDS : ask, 0, 0, text, size);
}

bool mst_uninstrumented_instead(unsigned ask, uint64_t pid, uint64_t since_ns, char *text,
                                size_t size)
{
    return say(ask, pid, since_ns, text, size);
}

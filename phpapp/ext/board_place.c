/* board_place.c - which board is this process's: where it is, and which process makes it.
 *
 *   FPM, mod_php   the server's parent makes NAME.board, and its workers inherit the mapping
 *   php-cgi, ...   without a common parent: SAPI-UID.board, made by the first process of a user
 *
 * The board is in the directory that mpmstat.board names; else root's boards are in RUNDIR, where
 * no other user can write, and those of another user in that user's $XDG_RUNTIME_DIR/mpmstat. A
 * process without any of them has no board. No directory is for all users: a user who can write to
 * a directory can fill its file system, and the system keeps pid files and sockets in that of
 * RUNDIR.
 *
 * A server has the same name at every start, and no two servers have the same: FPM's contains
 * its configuration file, mod_php's Apache's PidFile.
 */
#include "board_place.h"

#include <SAPI.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "pools.h"
#include "settings.h"
#include "write/busy.h"

#define RUNDIR          "/run/mpmstat"
#define USER_RUNDIR     "mpmstat"   /* in $XDG_RUNTIME_DIR */
#define SUFFIX          ".board"
#define NAME_MAX_BYTES  160    /* of the board's file, without directory and suffix */
#define PARENT_LABELS   MST_LABELS_DEFAULT
#define SHARED_LABELS   8u     /* a user has few pools */
#define SHARED_JOURNAL  8192u
#define SHARED_PROCESSES 256u
#define SHARED_SAMPLES 4096u

/* Apache's PidFile and ServerRoot, where this process is Apache. */
extern const char *ap_pid_fname __attribute__((weak));
extern const char *ap_server_root __attribute__((weak));

enum mst_board_origin mst_board_place_origin(void)
{
    static const struct { const char *name; enum mst_board_origin origin; } known[] = {
        { "fpm-fcgi", MST_ORIGIN_FPM }, { "apache2handler", MST_ORIGIN_APACHE },
        { "cgi-fcgi", MST_ORIGIN_SHARED }, { "cli-server", MST_ORIGIN_SHARED },
    };
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(sapi_module.name, known[i].name) == 0)
            return known[i].origin;
    return strcmp(sapi_module.name, "cli") == 0 && MPMSTAT_G(enable_cli) ? MST_ORIGIN_SHARED
                                                                         : MST_ORIGIN_OFF;
}

uint32_t mst_board_place_threads(void)
{
    return mst_php.origin == MST_ORIGIN_APACHE || strcmp(sapi_module.name, "cli") == 0
           ? MPMSTAT_THREADS : 1;
}

/* ---- names ------------------------------------------------------------------------- */

int mst_board_place_title_open(void)
{
    return open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
}

void mst_board_place_title_read(int fd, char *to, size_t size)
{
    ssize_t i, n = fd >= 0 ? read(fd, to, size - 1) : 0;

    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    for (i = 0; i < n; i++)
        if (to[i] == '\0')
            to[i] = ' ';
}

/* FPM's master names its configuration file: "php-fpm: master process (FILE)". Sets `to` to "" and
 * returns false where the title does not, or cuts the name. */
static bool fpm_configuration(char *to, size_t size)
{
    char title[PATH_MAX + 64], *from, *end;

    mst_board_place_title_read(mst_board_place_title_open(), title, sizeof title);
    from = strchr(title, '(');
    end = from ? strrchr(from, ')') : NULL;
    to[0] = '\0';
    return end && snprintf(to, size, "%.*s", (int)(end - from - 1), from + 1) < (int)size;
}

static void fpm_server(char *to, size_t size)
{
    if (!fpm_configuration(to, size) && !*to)
        snprintf(to, size, "%lu", (unsigned long)geteuid());
}

static void apache_server(char *to, size_t size)
{
    const char *pid_file = &ap_pid_fname ? ap_pid_fname : NULL;
    const char *root = &ap_server_root ? ap_server_root : NULL;

    if (pid_file && pid_file[0] == '/')
        snprintf(to, size, "%s", pid_file);
    else
        snprintf(to, size, "%s/%s", root ? root : "", pid_file ? pid_file : "");
}

/* Appends text for a file's name: unfit characters become '-', and a long text loses its
 * beginning, since ends differ more. */
static void append_clean(char *to, size_t size, const char *text)
{
    size_t room = size - strlen(to) - 1, n;
    char *at = to + strlen(to);

    text += strspn(text, "/");
    n = strlen(text);
    if (n > room)
        text += n - room;
    for (; *text; text++)
        *at++ = strchr("/ \t:;*?\"'\\()", *text) || (unsigned char)*text < ' ' ? '-' : *text;
    *at = '\0';
}

static void board_name(char *to, size_t size)
{
    char server[512];

    if (mst_php.origin == MST_ORIGIN_FPM)
        fpm_server(server, sizeof server);
    else if (mst_php.origin == MST_ORIGIN_APACHE)
        apache_server(server, sizeof server);
    else
        snprintf(server, sizeof server, "%lu", (unsigned long)geteuid());
    snprintf(to, size, "%s-", sapi_module.name);
    append_clean(to, size, server);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return path[strlen(path) - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* $XDG_RUNTIME_DIR, if it is a directory of this user alone; else NULL. The variable can be left
 * over from another user's environment. */
static const char *user_runtime_directory(void)
{
    const char *directory = getenv("XDG_RUNTIME_DIR");
    struct stat st;

    if (directory == NULL || directory[0] != '/' || stat(directory, &st) != 0
        || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
        return NULL;
    return directory;
}

/* Makes the directory where it is missing. Where that fails, making the board fails, too, and
 * tells why. */
static void make_directory(const char *path, mode_t mode)
{
    if (mkdir(path, mode) == 0)
        (void)!chmod(path, mode);   /* mkdir() applies the umask */
}

/* Sets the directory of boards that have the usual name. Returns false where there is none. */
static bool board_directory(char *to, size_t size)
{
    const char *set = MPMSTAT_G(board), *users;

    if (set && *set) {
        snprintf(to, size, "%s%s", set, set[strlen(set) - 1] == '/' ? "" : "/");
        return true;
    }
    if (geteuid() == 0) {
        snprintf(to, size, "%s/", RUNDIR);
        make_directory(RUNDIR, 0755);
        return true;
    }
    users = user_runtime_directory();
    if (users == NULL)
        return false;
    snprintf(to, size, "%s/" USER_RUNDIR "/", users);
    make_directory(to, 0700);
    return true;
}

/* Sets the board's path. mpmstat.board is a file, or a directory for a board of the usual name.
 * Returns false where there is no place for a board. */
static bool board_path(char *to, size_t size)
{
    const char *set = MPMSTAT_G(board);
    char directory[sizeof mst_php.board.path], name[NAME_MAX_BYTES];

    if (set && *set && !is_directory(set)) {
        snprintf(to, size, "%s", set);
        return true;
    }
    if (!board_directory(directory, sizeof directory))
        return false;
    board_name(name, sizeof name);
    snprintf(to, size, "%s%s" SUFFIX, directory, name);
    return true;
}

/* ---- the board ----------------------------------------------------------------------- */

static gid_t reader_group(void)
{
    const char *name = MPMSTAT_G(group);
    const struct group *g = name && *name ? getgrnam(name) : NULL;

    return g ? g->gr_gid : (gid_t)-1;
}

void mst_board_place_warn(const char *text)
{
    char line[MST_ERROR_MAX + 64];

    snprintf(line, sizeof line, "mpmstat: %s", text);
    php_log_err_with_severity(line, LOG_WARNING);
}

bool mst_board_place_is_one_of_many(void)
{
    return strcmp(sapi_module.name, "cgi-fcgi") == 0 && getenv("GATEWAY_INTERFACE") != NULL;
}

static void give_up(const char *error, bool is_logged)
{
    char text[MST_ERROR_MAX + 64];

    mst_php.given_up = true;
    snprintf(mst_php.why_not, sizeof mst_php.why_not, "%s", error);
    snprintf(text, sizeof text, "serving without recording: %s", error);
    if (is_logged)
        mst_board_place_warn(text);
}

/* A server logs that it has no board as it starts. For a process without a parent it is nothing
 * unusual: only phpinfo() tells it. */
static void give_up_without_place(void)
{
    char error[MST_ERROR_MAX];

    snprintf(error, sizeof error, "there is no place for a board of user %lu, as $XDG_RUNTIME_DIR "
             "is not a directory of that user alone: set mpmstat.board to a directory that "
             "the user may write to, best on a small tmpfs of its own",
             (unsigned long)geteuid());
    give_up(error, mst_php.origin != MST_ORIGIN_SHARED);
}

static uint32_t at_most(zend_long wanted, uint32_t most)
{
    return wanted < (zend_long)most ? (uint32_t)wanted : most;
}

static uint32_t code_samples(bool shared)
{
    if (MPMSTAT_G(profile) == 0 && !(MPMSTAT_G(places) && MPMSTAT_G(measure_waits)))
        return 0;
    return shared ? SHARED_SAMPLES : MST_CODE_SAMPLES;
}

static struct mst_layout wanted_layout(void)
{
    bool shared = mst_php.origin == MST_ORIGIN_SHARED;

    return (struct mst_layout){
        .producer = MST_PRODUCER_PHP,
        .processes = at_most(MPMSTAT_G(processes), shared ? SHARED_PROCESSES : UINT32_MAX),
        .threads_per_process = mst_board_place_threads(),
        .labels = shared ? SHARED_LABELS : PARENT_LABELS,
        .stripes = mst_layout_stripes(),
        .requests = at_most(mst_layout_requests((uint32_t)MPMSTAT_G(journal)),
                            shared ? SHARED_JOURNAL : UINT32_MAX),
        .lifecycle = MST_LIFECYCLE_RECORDS,
        .code_samples = code_samples(shared),
    };
}

/* The limit of all workers together. The limits of FPM's pools are read in any case. */
static uint64_t workers_limit(void)
{
    uint64_t limit = MST_UNKNOWN;
    char path[PATH_MAX];

    if (mst_php.origin == MST_ORIGIN_FPM && fpm_configuration(path, sizeof path))
        limit = mst_pools_read(path);
    return MPMSTAT_G(workers_limit) > 0 ? (uint64_t)MPMSTAT_G(workers_limit) : limit;
}

static struct mst_identity identity(void)
{
    static char settings[MST_SETTINGS_MAX];

    mst_settings_write(settings, sizeof settings);
    return (struct mst_identity){
        .server = "PHP/" PHP_VERSION,
        .sapi = sapi_module.name,
        .version = MPMSTAT_VERSION,
        .settings = settings,
        .workers_limit = workers_limit(),
        .no_parent = mst_php.origin == MST_ORIGIN_SHARED,
    };
}

static void opened(const char *warning)
{
    char boot_id[MST_HANDOVER_BOOT];

    mst_php.is_open = true;
    mst_php.parent = mst_php.origin == MST_ORIGIN_SHARED ? 0 : (uint64_t)getpid();
    if (mst_php.origin == MST_ORIGIN_FPM)
        mst_pools_show();
    mst_host_boot_id(boot_id, sizeof boot_id);
    mst_handover_boot(mst_php.boot, boot_id);
    mst_handover_place(mst_php.place, mst_php.boot, mst_host_namespace("time"));
    if (*warning && !mst_board_place_is_one_of_many())
        mst_board_place_warn(warning);
}

/* Takes up the board from before a restart: its counters go on, and the limit can have changed. */
static bool take_up(const char *path, const struct mst_layout *layout,
                    const struct mst_identity *id)
{
    struct mst_header *h;

    if (!mst_board_adopt(&mst_php.board, path, layout))
        return false;
    h = mst_php.board.header;
    __atomic_store_n(&h->stopped_ns, 0, __ATOMIC_RELAXED);
    mst_board_identify(&mst_php.board, id);
    __atomic_store_n(&h->generation, h->generation + 1, __ATOMIC_RELAXED);
    mst_busy_update(&mst_php.board, mst_now_ns());
    return true;
}

/* Two copies of the library in one process share one signal handler: mod_mpmstat's, where that
 * module is loaded. */
static void share_guard(void)
{
    const struct mst_guard_service *const *found = dlsym(RTLD_DEFAULT, MST_GUARD_SYMBOL);

    if (found != NULL && (*found)->version == MST_GUARD_VERSION)
        mst_guard_service = *found;
}

static bool open_board(const char *path, char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX])
{
    struct mst_layout layout = wanted_layout();
    struct mst_identity id = identity();
    struct mst_board *b = &mst_php.board;
    uint64_t generation = 0;

    if (mst_php.origin == MST_ORIGIN_SHARED)
        return mst_board_share(b, path, &layout, &id, reader_group(), warning, error) == 0;
    if (take_up(path, &layout, &id))
        return true;
    if (mst_php.origin == MST_ORIGIN_FPM)
        generation = mst_board_next_generation(path, mst_php.began_pid, mst_php.began_ticks);
    if (mst_board_create(b, path, &layout, &id, reader_group(), warning, error) != 0)
        return false;
    __atomic_store_n(&b->header->generation, generation, __ATOMIC_RELAXED);
    return true;
}

void mst_board_place_open(void)
{
    char path[sizeof mst_php.board.path + 1], warning[MST_ERROR_MAX] = "", error[MST_ERROR_MAX];

    if (mst_php.origin != MST_ORIGIN_SHARED)
        share_guard();
    if (!board_path(path, sizeof path))
        give_up_without_place();
    else if (open_board(path, warning, error))
        opened(warning);
    else
        give_up(error, !mst_board_place_is_one_of_many());
}

/* target.c - finds and opens what the user points at: see target.h. */
#include "source/target.h"

#include <errno.h>
#include <glob.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "read/directory.h"
#include "source/target_file.h"
#include "system/owner.h"
#include "system/uninstrumented.h"

static int out_of_memory(char error[MST_ERROR_MAX])
{
    return mst_fail(error, "out of memory");
}

/* ---- which files there are already ------------------------------------------ */

struct file_id { dev_t device; ino_t inode; };

static int by_id(const void *left, const void *right)
{
    const struct file_id *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->inode > b->inode) - (a->inode < b->inode);
}

/* Remembers a file. 1: it is new; 0: it was there; -1: out of memory. */
static int remember(struct mst_targets *targets, dev_t device, ino_t inode)
{
    struct file_id *id = malloc(sizeof *id), **there;

    if (id == NULL)
        return -1;
    *id = (struct file_id){ device, inode };
    there = tsearch(id, &targets->files, by_id);
    if (there != NULL && *there == id)
        return 1;
    free(id);
    return there != NULL ? 0 : -1;
}

/* ---- the list ------------------------------------------------------------- */

/* problem: NULL or a sentence, copied. */
static int add_target(struct mst_targets *targets, enum mst_target_kind kind, const char *name,
                      const char *problem)
{
    struct mst_target *target;

    if (!mst_grow(&targets->items, &targets->room, targets->count, sizeof *target))
        return -1;
    target = &targets->items[targets->count];
    memset(target, 0, sizeof *target);
    target->kind = kind;
    target->allowance = targets->allowance;
    target->name = strdup(name);
    if (problem != NULL)
        target->problem = strdup(problem);
    if (target->name == NULL || (problem != NULL && target->problem == NULL)) {
        free(target->name);
        return -1;
    }
    targets->count++;
    return 0;
}

bool mst_targets_have(const struct mst_targets *targets, const char *name)
{
    size_t i = 0;

    while (i < targets->count && strcmp(targets->items[i].name, name) != 0)
        i++;
    return i < targets->count;
}

static char *copy_of(const char *text, bool *failed)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    *failed |= text != NULL && copy == NULL;
    return copy;
}

/* "web1#php", "web1#php-2": a board's file has a long name. NULL: out of memory. */
static char *label_behind(const struct mst_targets *targets, const char *front)
{
    size_t length = strlen(front), nth = 1, i;
    char *label = NULL;

    for (i = 0; i < targets->count; i++)
        nth += targets->items[i].label != NULL &&
               strncmp(targets->items[i].label, front, length) == 0 &&
               targets->items[i].label[length] == '#';
    if ((nth == 1 ? asprintf(&label, "%s#php", front)
                  : asprintf(&label, "%s#php-%zu", front, nth)) < 0)
        return NULL;
    return label;
}

int mst_targets_add_behind(struct mst_targets *targets, const char *url,
                           const struct mst_target *front)
{
    struct mst_target *target;
    bool failed = false;

    if (add_target(targets, MST_TARGET_URL, url, NULL) != 0)
        return -1;
    target = &targets->items[targets->count - 1];
    target->access.ca_file = copy_of(front->access.ca_file, &failed);
    target->access.token = copy_of(front->access.token, &failed);
    if (front->label != NULL) {
        target->label = label_behind(targets, front->label);
        failed |= target->label == NULL;
    }
    return failed ? -1 : 0;
}

void mst_targets_free(struct mst_targets *targets)
{
    size_t i;

    for (i = 0; i < targets->count; i++) {
        struct mst_target *t = &targets->items[i];

        if (t->is_open)
            mst_reader_close(&t->reader);
        mst_listen_free(&t->listen);
        free(t->name);
        free(t->label);
        free(t->access.ca_file);
        free(t->access.token);
        free(t->problem);
    }
    tdestroy(targets->files, free);
    free(targets->items);
    free(targets->allowance);
    free(targets->passed.example);
    memset(targets, 0, sizeof *targets);
}

/* ---- directories ---------------------------------------------------------- */

/* What is taken of a directory. */
struct taking {
    struct mst_targets *targets;
    bool                ours_only;    /* it was found, not named */
    size_t              others_left;  /* of other users' boards */
};

static int pass_over(struct mst_targets *targets, const struct mst_board_file *file)
{
    if (targets->passed.count++ > 0)
        return 0;
    targets->passed.owner = file->owner;
    targets->passed.example = strdup(file->path);
    return targets->passed.example != NULL ? 0 : -1;
}

static int take_file(struct taking *taking, const struct mst_board_file *file)
{
    bool ours = file->rank < 2;
    struct mst_targets *targets = taking->targets;
    int is_new = remember(targets, file->device, file->inode);

    if (is_new <= 0)
        return is_new;
    if (!ours && (taking->ours_only || taking->others_left == 0))
        return pass_over(targets, file);
    if (add_target(targets, MST_TARGET_FILE, file->path, NULL) != 0)
        return -1;
    targets->items[targets->count - 1].has_owner = true;
    targets->items[targets->count - 1].owner = file->owner;
    taking->others_left -= !ours;
    return 0;
}

/* Takes the boards in `directory`. Returns how many there are (also those that
 * are in the list already, and those passed over), -1 with errno set where it
 * cannot be read. */
static int add_directory(struct taking *taking, const char *directory)
{
    struct mst_board_list list = { 0 };
    int rc = mst_board_list_add(&list, directory), reason = errno, count = (int)list.count;
    size_t i;

    mst_board_list_order(&list);
    for (i = 0; i < list.count && rc == 0; i++) {
        rc = take_file(taking, &list.files[i]);
        reason = ENOMEM;
    }
    if (list.cut)
        snprintf(taking->targets->note, sizeof taking->targets->note,
                 "%.400s has more than %u entries: boards behind them are not found; remove what "
                 "is not a board", directory, MST_DIRECTORY_ENTRIES);
    mst_board_list_free(&list);
    errno = reason;
    return rc == 0 ? count : -1;
}

/* The same for `directory` and the directory `php` in it. */
static int add_runtime_directory(struct taking *taking, const char *directory)
{
    char php[4096];
    int own, nested;

    own = add_directory(taking, directory);
    if (own < 0)
        return -1;
    if ((size_t)snprintf(php, sizeof php, "%s/php", directory) >= sizeof php)
        return own;
    nested = add_directory(taking, php);
    if (nested >= 0)
        return own + nested;
    return errno == ENOENT || errno == ENOTDIR || own > 0 ? own : -1;
}

/* Mentions other users' boards: the user would miss them otherwise. */
static void note_passed(struct mst_targets *targets, bool named)
{
    size_t used = strlen(targets->note), room = sizeof targets->note - used;
    char *note = targets->note + used;
    const char *example = targets->passed.example;

    if (targets->passed.count == 0)
        return;
    if (used > 0 && room > 2) {
        memcpy(note, ". ", 3);
        note += 2;
        room -= 2;
    }
    if (named)
        snprintf(note, room, "boards of other users that are not looked at: %zu, one of them "
                 "%.300s of %s. Of a directory at most %u of them are; name the file to look at "
                 "it", targets->passed.count, example,
                 mst_owner_name(targets->passed.owner).text, MST_TARGETS_OTHER_MAX);
    else
        snprintf(note, room, "boards of other users that were passed over: %zu, one of them "
                 "%.300s of %s. Without a target only root's boards and your own are taken; name "
                 "the file or its directory to look at it (mpmstat status FILE, mpmstat record "
                 "-t FILE)", targets->passed.count, example,
                 mst_owner_name(targets->passed.owner).text);
}

/* ---- what was named ------------------------------------------------------- */

static bool is_url(const char *arg)
{
    return strncasecmp(arg, "http://", 7) == 0 || strncasecmp(arg, "https://", 8) == 0;
}

/* HOST, HOST:PORT or HOST/PATH, where no file of that name is. */
static bool looks_like_host(const char *arg)
{
    size_t length = strcspn(arg, "/");
    const char *end = strrchr(arg, '.');

    if (length == 0 || arg[0] == '.' || (end != NULL && strcmp(end, ".board") == 0))
        return false;
    return memchr(arg, ':', length) != NULL || memchr(arg, '.', length) != NULL ||
           (length == strlen("localhost") && strncmp(arg, "localhost", length) == 0);
}

static void describe_missing(const char *arg, int reason, char problem[MST_ERROR_MAX])
{
    if (strstr(arg, "://") != NULL)
        snprintf(problem, MST_ERROR_MAX, "%s: of URLs only http:// and https:// can be asked", arg);
    else if (reason == ENOENT && looks_like_host(arg))
        snprintf(problem, MST_ERROR_MAX,
                 "%s: there is no such file; if it is a URL, begin it with http:// (http://%s%s)",
                 arg, arg, strchr(arg, '/') != NULL ? "" : "/mpm-status");
    else if (reason == ENOENT)
        snprintf(problem, MST_ERROR_MAX,
                 "%s: there is no such file or directory; expected a board file, a directory "
                 "with board files, or a status URL", arg);
    else if (reason == EACCES)
        mst_owner_say_closed(arg, problem);
    else
        snprintf(problem, MST_ERROR_MAX, "%s: %s", arg, strerror(reason));
}

static int add_named_directory(struct mst_targets *targets, const char *arg,
                               char problem[MST_ERROR_MAX])
{
    struct taking taking = { targets, .others_left = MST_TARGETS_OTHER_MAX };
    int n = add_runtime_directory(&taking, arg);

    if (n > 0)
        return 0;
    if (n < 0 && errno == ENOMEM)
        return -1;
    if (n < 0)
        describe_missing(arg, errno, problem);
    else
        snprintf(problem, MST_ERROR_MAX,
                 "%s: no board in this directory: a server with mpmstat makes a *%s file when "
                 "it starts", arg, MST_BOARD_SUFFIX);
    return add_target(targets, MST_TARGET_FILE, arg, problem);
}

static int add_named(struct mst_targets *targets, const char *arg)
{
    char problem[MST_ERROR_MAX];
    struct stat st;
    int is_new;

    if (mst_targets_have(targets, arg))
        return 0;
    if (is_url(arg))
        return add_target(targets, MST_TARGET_URL, arg, NULL);
    if (stat(arg, &st) != 0) {
        describe_missing(arg, errno, problem);
        return add_target(targets, MST_TARGET_FILE, arg, problem);
    }
    if (S_ISDIR(st.st_mode))
        return add_named_directory(targets, arg, problem);
    /* A link's own: what it points to is refused by this name. */
    if (lstat(arg, &st) != 0)
        return add_target(targets, MST_TARGET_FILE, arg, NULL);
    is_new = remember(targets, st.st_dev, st.st_ino);
    return is_new > 0 ? add_target(targets, MST_TARGET_FILE, arg, NULL) : is_new;
}

/* ---- what was not named --------------------------------------------------- */

/* "A, B and C (permission denied)": appends one to the list for the message. */
static void append_place(char *places, size_t room, const char *directory, int reason)
{
    size_t used = strlen(places);

    snprintf(places + used, room - used, "%s%s%s%s%s", used > 0 ? ", " : "", directory,
             reason != 0 ? " (" : "",
             reason == ENOENT ? "does not exist" : reason != 0 ? strerror(reason) : "",
             reason != 0 ? ")" : "");
}

/* Those of all servers; of further Apaches that Debian starts, as apache2@two; and the user's own,
 * for the user's own servers. */
static char *usual_directories(void)
{
    const char *users = getenv("XDG_RUNTIME_DIR");
    char *directories = NULL;
    size_t size, i;
    FILE *out = open_memstream(&directories, &size);
    glob_t instances;

    if (out == NULL)
        return NULL;
    fputs(MST_RUNDIR_DEFAULT, out);
    if (glob(MST_RUNDIR_INSTANCES, GLOB_ONLYDIR, NULL, &instances) == 0)
        for (i = 0; i < instances.gl_pathc; i++)
            fprintf(out, ":%s", instances.gl_pathv[i]);
    globfree(&instances);
    if (users != NULL && users[0] == '/')
        fprintf(out, ":%s/mpmstat", users);
    if (fclose(out) == 0)
        return directories;
    free(directories);
    return NULL;
}

static const char *named_directories(void)
{
    const char *variable = getenv(MST_RUNDIR_VARIABLE);

    return variable != NULL && *variable != '\0' ? variable : NULL;
}

bool mst_targets_hint(unsigned ask, char *text, size_t size)
{
    text[0] = '\0';
    return named_directories() == NULL && mst_uninstrumented_say(ask, text, size);
}

static int add_default(struct mst_targets *targets, char error[MST_ERROR_MAX])
{
    const char *named = named_directories();
    bool is_set = named != NULL;
    char *directories = is_set ? strdup(named) : usual_directories();
    char *rest = directories, *directory;
    struct taking taking = { targets, .ours_only = true };
    char places[MST_ERROR_MAX / 3] = "", closed[MST_ERROR_MAX] = "", hint[MST_ERROR_MAX / 2] = "";
    int n, reason;

    if (directories == NULL)
        return out_of_memory(error);
    while ((directory = strsep(&rest, ":")) != NULL) {
        if (*directory == '\0')
            continue;
        n = add_runtime_directory(&taking, directory);
        reason = n < 0 ? errno : 0;
        if (reason == ENOMEM) {
            free(directories);
            return out_of_memory(error);
        }
        append_place(places, sizeof places, directory, reason);
        if (reason == EACCES && closed[0] == '\0')
            mst_owner_say_closed(directory, closed);
    }
    free(directories);
    note_passed(targets, false);
    if (targets->count > 0) {
        if (targets->note[0] == '\0')
            snprintf(targets->note, sizeof targets->note, "%s", closed);
        return 0;
    }
    if (targets->passed.count > 0)
        return mst_fail(error, "no board of root's or of your own found in %s%s: %.600s",
                        is_set ? MST_RUNDIR_VARIABLE " = " : "", places, targets->note);
    if (closed[0] != '\0')
        return mst_fail(error, "no board found: %.900s", closed);
    if (mst_targets_hint(MST_ASK_APACHE | MST_ASK_PHP, hint, sizeof hint))
        return mst_fail(error, "no board found in %s. %s", places, hint);
    return mst_fail(error, "no board found in %s%s. Is a server with mpmstat running? Name its "
                    "board file (MPMStatBoard says where), its directory (or set %s) or its "
                    "status URL", is_set ? MST_RUNDIR_VARIABLE " = " : "", places,
                    MST_RUNDIR_VARIABLE);
}

/* ---- what URLs are asked with --------------------------------------------- */

/* Sets the authority and the token of a URL. 0, or -1 with a sentence. */
static int set_access(struct mst_target *target, const char *ca_file, const char *token_file,
                      char error[MST_ERROR_MAX])
{
    bool failed = false;

    if (target->kind != MST_TARGET_URL)
        return 0;
    if (ca_file != NULL && access(ca_file, R_OK) != 0)
        return mst_fail(error, "the file of authorities %.300s: %s", ca_file, strerror(errno));
    target->access.ca_file = copy_of(ca_file, &failed);
    if (failed)
        return out_of_memory(error);
    if (token_file == NULL)
        return 0;
    if (strncasecmp(target->name, "https://", 8) != 0 && !mst_http_is_loopback(target->name))
        return mst_fail(error, "%.200s: mpmstat does not send a token in clear text: use a URL "
                        "that begins with https://, or one with this machine's loopback address",
                        target->name);
    target->access.token = mst_token_read(token_file, error);
    return target->access.token != NULL ? 0 : -1;
}

/* ---- a file of targets ----------------------------------------------------- */

struct file_of_targets {
    struct mst_targets            *targets;
    const struct mst_target_names *names;
};

static bool has_label(const struct mst_targets *targets, const char *label)
{
    size_t i = 0;

    while (i < targets->count && (targets->items[i].label == NULL ||
                                  strcmp(targets->items[i].label, label) != 0))
        i++;
    return i < targets->count;
}

static int add_line(void *context, const struct mst_target_line *line, char error[MST_ERROR_MAX])
{
    const struct file_of_targets *f = context;
    const struct mst_target_names *names = f->names;
    size_t first = f->targets->count, i;
    bool failed = false;

    if (line->name[0] != '\0' && has_label(f->targets, line->name))
        return mst_fail(error, "the name %s is given twice", line->name);
    if (mst_targets_have(f->targets, line->target))
        return mst_fail(error, "the target %.300s is named twice", line->target);
    if (add_named(f->targets, line->target) != 0)
        return out_of_memory(error);
    for (i = first; i < f->targets->count; i++)
        if (set_access(&f->targets->items[i],
                       line->ca_file != NULL ? line->ca_file : names->ca_file,
                       line->token_file != NULL ? line->token_file : names->token_file,
                       error) != 0)
            return -1;
    /* A directory of several boards has no one server that the name could be of. */
    if (line->name[0] != '\0' && f->targets->count == first + 1)
        f->targets->items[first].label = copy_of(line->name, &failed);
    return failed ? out_of_memory(error) : 0;
}

int mst_targets_find(struct mst_targets *out, const struct mst_target_names *names,
                     char error[MST_ERROR_MAX])
{
    struct file_of_targets file = { out, names };
    size_t i;

    memset(out, 0, sizeof *out);
    out->allowance = malloc(sizeof *out->allowance);
    if (out->allowance == NULL)
        return out_of_memory(error);
    *out->allowance = (struct mst_allowance){ MST_TARGETS_COST, MST_TARGETS_COST_OTHER };
    if (!mst_targets_named(names))
        return add_default(out, error);
    for (i = 0; i < names->count; i++)
        if (add_named(out, names->args[i]) != 0)
            return out_of_memory(error);
    for (i = 0; i < out->count; i++)
        if (set_access(&out->items[i], names->ca_file, names->token_file, error) != 0)
            return -1;
    if (names->file != NULL && mst_target_file_read(names->file, add_line, &file, error) != 0)
        return -1;
    if (out->count == 0)
        return mst_fail(error, "the file of targets %.300s names none", names->file);
    note_passed(out, true);
    return 0;
}

int mst_targets_resolve(struct mst_targets *out, char *const *args, size_t n,
                        char error[MST_ERROR_MAX])
{
    const struct mst_target_names names = { .args = args, .count = n };

    return mst_targets_find(out, &names, error);
}

/* load.c - the load tool's part in a recording: see load.h. */
#include "record/load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"
#include "exec/capture.h"
#include "record/limits.h"
#include "render/sink.h"

#define VERSION_MAX 200u

void mst_load_init(struct mst_load *load)
{
    *load = (struct mst_load){ .out_fd = -1, .err_fd = -1, .rows_fd = -1 };
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void mst_load_close(struct mst_load *load)
{
    mst_plan_free(&load->plan);
    close_fd(load->out_fd);
    close_fd(load->err_fd);
    close_fd(load->rows_fd);
    mst_load_init(load);
}

int mst_load_prepare(struct mst_load *load, char *const *command, bool add_flags,
                     char error[MST_ERROR_MAX])
{
    load->tool = mst_loadtool_for(command[0]);
    load->out_fd = mst_capture_open(error);
    load->err_fd = load->out_fd >= 0 ? mst_capture_open(error) : -1;
    load->rows_fd = load->err_fd >= 0 ? mst_capture_open(error) : -1;
    if (load->rows_fd < 0)
        return -1;
    return load->tool->prepare(&load->plan, command, add_flags ? load->rows_fd : -1, error);
}

static struct mst_runner *start_program(const struct mst_load *load, char *const *argv, int out,
                                        int err, int inherited, char error[MST_ERROR_MAX])
{
    const struct mst_spawn spawn = {
        .argv = argv, .environment = load->environment, .in = STDIN_FILENO, .out = out, .err = err,
        .inherited = inherited,
    };

    return mst_runner_start(&spawn, error);
}

struct mst_runner *mst_load_start(const struct mst_load *load, char error[MST_ERROR_MAX])
{
    return start_program(load, load->plan.argv, load->out_fd, load->err_fd,
                         load->plan.rows == MST_ROWS_IN_FD ? load->rows_fd : -1, error);
}

const char *mst_load_name(const struct mst_load *load)
{
    const char *slash = strrchr(load->plan.argv[0], '/');

    return slash != NULL ? slash + 1 : load->plan.argv[0];
}

bool mst_load_succeeded(const struct mst_load *load, uint64_t exit_status)
{
    return exit_status == 0 ||
           (load->plan.unhappy_status != 0 && exit_status == load->plan.unhappy_status);
}

void mst_load_follow(struct mst_load *load)
{
    mst_capture_follow(load->out_fd, &load->out_shown, STDERR_FILENO);
    mst_capture_follow(load->err_fd, &load->err_shown, STDERR_FILENO);
}

/* ---- into the archive ------------------------------------------------------------ */

/* What is collected, and into which run. */
struct collection {
    struct mst_load    *load;
    struct mst_archive *archive;
    int64_t             run_id;
    uint64_t            started_ns;
    bool                succeeded;   /* results are expected */
    bool                ended;       /* succeeded, and was not stopped by us */
    bool                has_rows;
    struct mst_row_totals totals;
};

static int note(const struct collection *c, const char *text)
{
    if (!c->succeeded)
        return 0;
    mst_warn("%s", text);
    return mst_archive_add_note(c->archive, c->run_id, mst_realtime_ns(), text);
}

static int keep_output(const struct collection *c, const char *stream, int fd)
{
    size_t n;
    char *text = mst_capture_end(fd, MST_ARCHIVE_OUTPUT, &n);
    int status;

    if (text == NULL)
        return note(c, "what the load tool printed could not be read again");
    status = mst_archive_add_output(c->archive, c->run_id, stream, mst_capture_bytes(fd), text, n);
    if (status == 0)
        status = mst_archive_commit(c->archive);   /* text is bound, not copied */
    free(text);
    return status;
}

/* ---- the whole run --------------------------------------------------------------- */

/* What the tool says, or else what its rows do. 0, or -1 with a sentence. */
static int find_result(const struct collection *c, const struct mst_printed *printed,
                       struct mst_client_result *result, char error[MST_ERROR_MAX])
{
    const struct mst_load *load = c->load;

    snprintf(error, MST_ERROR_MAX, "%s was told to write nothing that can be read: only the "
             "server's side is known%s%s", load->tool->name,
             load->plan.why_not_added != NULL ? ". " : "",
             load->plan.why_not_added != NULL ? load->plan.why_not_added : "");
    if (load->tool->parse != NULL && load->tool->parse(result, &load->plan, printed, error) == 0)
        return 0;
    if (!c->has_rows)
        return -1;
    mst_client_result_from_rows(result, load->tool, &load->plan, &c->totals, c->ended);
    return 0;
}

static int keep_result(const struct collection *c, const struct mst_printed *printed)
{
    struct mst_load *load = c->load;
    struct mst_client_result result;
    char error[MST_ERROR_MAX];

    if (find_result(c, printed, &result, error) != 0)
        return note(c, error);
    load->has_result = true;
    return mst_archive_add_client_result(c->archive, c->run_id, &result, &load->plan);
}

static int read_result(const struct collection *c)
{
    const struct mst_loadtool *tool = c->load->tool;
    struct mst_printed printed;
    char *out, *err;
    int status;

    /* Where rows alone would tell, and there are none, their reader has said so. */
    if (tool->parse == NULL && (tool->read_row == NULL ||
                                (!c->has_rows && c->load->plan.rows != MST_ROWS_NONE)))
        return 0;
    out = mst_capture_end(c->load->out_fd, MST_ARCHIVE_OUTPUT, &printed.out_n);
    err = mst_capture_end(c->load->err_fd, MST_ARCHIVE_OUTPUT, &printed.err_n);
    printed.out = out;
    printed.err = err;
    if (out != NULL && err != NULL)
        status = keep_result(c, &printed);
    else
        status = note(c, "what the load tool printed could not be read again");
    free(out);
    free(err);
    return status;
}

/* ---- rows ------------------------------------------------------------------------ */

static int take_row(void *context, const struct mst_client_row *row)
{
    struct collection *c = context;

    mst_row_totals_add(&c->totals, row);
    if (mst_archive_add_client_row(c->archive, c->run_id, row) != 0)
        return -1;
    return mst_archive_tick(c->archive, mst_now_ns());
}

/* Whether it was written in this run: an older one tells of another. File systems
 * may have seconds only. */
static bool is_fresh(int fd, uint64_t started_ns)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)(st.st_mtim.tv_sec + 1) * MST_NS_PER_S > started_ns;
}

/* The file that it wrote them to. -1: there is none of this run. */
static int open_rows_file(const struct collection *c)
{
    const struct mst_load *load = c->load;
    bool at_path = load->plan.rows == MST_ROWS_AT_PATH;
    int fd;

    if (at_path)   /* O_NONBLOCK: it can be a pipe that no program has open */
        fd = open(load->plan.rows_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    else
        fd = fcntl(load->plan.rows == MST_ROWS_ON_STDOUT ? load->out_fd : load->rows_fd,
                   F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && (!at_path || is_fresh(fd, c->started_ns)) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close_fd(fd);
    return -1;
}

/* Waits for a command that has little to do: it ends, or hangs. As mst_runner_ended(). */
static int wait_for(struct mst_runner *runner, uint64_t limit_ns, struct mst_run_end *end,
                    char error[MST_ERROR_MAX])
{
    struct pollfd fd = { mst_runner_fd(runner), POLLIN, 0 };
    uint64_t until = mst_now_ns() + limit_ns;
    int ended;

    while ((ended = mst_runner_ended(runner, end, error)) == 0 && mst_now_ns() < until)
        poll(&fd, 1, 1000);
    return ended;
}

static int wait_for_lines(struct mst_runner *runner, char error[MST_ERROR_MAX])
{
    struct mst_run_end end;
    int ended = wait_for(runner, MST_CONVERT_NS, &end, error);

    if (ended == 0)
        snprintf(error, MST_ERROR_MAX, "the conversion of its results took more than %u s",
                 (unsigned)(MST_CONVERT_NS / MST_NS_PER_S));
    else if (ended > 0 && end.exit_status != 0)
        snprintf(error, MST_ERROR_MAX, "the conversion of its results failed");
    return ended > 0 && end.exit_status == 0 ? 0 : -1;
}

/* The same rows as lines, made of the tool's own format. -1 with a sentence. */
static int convert(const struct collection *c, char error[MST_ERROR_MAX])
{
    const struct mst_load *load = c->load;
    int lines = mst_capture_open(error);
    struct mst_runner *runner = NULL;
    int status = -1;

    if (lines >= 0)
        runner = start_program(load, load->plan.convert, lines, load->err_fd, load->rows_fd, error);
    if (runner != NULL)
        status = wait_for_lines(runner, error);
    mst_runner_close(runner);
    if (status == 0)
        return lines;
    close_fd(lines);
    return -1;
}

/* The lines, to be closed. NULL with a sentence. */
static FILE *open_rows(const struct collection *c, char error[MST_ERROR_MAX])
{
    int fd = open_rows_file(c);
    FILE *rows = NULL;

    snprintf(error, MST_ERROR_MAX, "the load tool wrote no rows in this run");
    if (fd >= 0 && c->load->plan.convert != NULL) {
        close(fd);
        fd = convert(c, error);
        lseek(fd, 0, SEEK_SET);
    }
    if (fd >= 0)
        rows = fdopen(fd, "r");
    if (rows == NULL)
        close_fd(fd);
    return rows;
}

static int read_rows(struct collection *c)
{
    const struct mst_load *load = c->load;
    char error[MST_ERROR_MAX];
    struct mst_rows_said said;
    FILE *rows;
    long count;

    if (load->tool->read_row == NULL || load->plan.rows == MST_ROWS_NONE)
        return 0;
    rows = open_rows(c, error);
    if (rows == NULL)
        return note(c, error);
    count = mst_loadtool_read_rows(load->tool, rows, c->started_ns, take_row, c, &said, error);
    fclose(rows);
    if (mst_archive_error(c->archive)[0] != '\0')
        return -1;
    c->has_rows = count >= 0;
    c->totals.bad = said.bad;
    c->totals.users = mst_rows_users(&said, &c->totals);
    if (count >= 0 && said.bad == 0)
        return 0;
    if (count >= 0)
        snprintf(error, sizeof error, "%" PRIu64 " lines among the load tool's rows are not rows "
                 "and were left out", said.bad);
    return note(c, error);
}

/* ---- its version ----------------------------------------------------------------- */

/* The first line with a number: others are greetings. */
static void find_version(char *text, char version[VERSION_MAX])
{
    char *line, *rest = text;

    version[0] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL)
        if (strpbrk(line, "0123456789") != NULL) {
            snprintf(version, VERSION_MAX, "%s", line + strspn(line, " \t"));
            return;
        }
}

/* The version is asked for after the run, so that asking cannot disturb it. A tool that does not
 * tell it leaves it unknown. */
static int keep_version(const struct collection *c)
{
    char *argv[] = { c->load->plan.argv[0], (char *)c->load->tool->version_flag, NULL };
    char error[MST_ERROR_MAX], version[VERSION_MAX] = "", *text;
    struct mst_runner *runner = NULL;
    struct mst_run_end end;
    int fd = -1;
    size_t n;

    if (argv[1] != NULL)
        fd = mst_capture_open(error);
    if (fd >= 0)
        runner = start_program(c->load, argv, fd, fd, -1, error);
    if (runner != NULL && wait_for(runner, MST_VERSION_NS, &end, error) > 0 &&
        (text = mst_capture_end(fd, MST_SHOWN_BYTES, &n)) != NULL) {
        find_version(text, version);
        free(text);
    }
    mst_runner_close(runner);
    close_fd(fd);
    if (version[0] == '\0')
        return 0;
    if (mst_archive_add_environment(c->archive, c->run_id, "load_tool", version) != 0)
        return -1;
    return mst_archive_commit(c->archive);   /* rows can be long in coming */
}

int mst_load_collect(struct mst_load *load, struct mst_archive *archive, int64_t run_id,
                     const struct mst_archive_run_end *end)
{
    struct collection c = {
        .load = load, .archive = archive, .run_id = run_id, .started_ns = end->started_ns,
        .succeeded = mst_load_succeeded(load, end->exit_status),
    };

    c.ended = c.succeeded && end->outcome == MST_OUTCOME_UNFINISHED;
    if (keep_output(&c, "stdout", load->out_fd) != 0 ||
        keep_output(&c, "stderr", load->err_fd) != 0 || (c.ended && keep_version(&c) != 0) ||
        read_rows(&c) != 0)
        return -1;
    return read_result(&c);
}

/* ---- to a person ----------------------------------------------------------------- */

void mst_load_show(const struct mst_load *load)
{
    size_t n;
    int fd = mst_capture_bytes(load->err_fd) > 0 ? load->err_fd : load->out_fd;
    char *text = mst_capture_end(fd, MST_SHOWN_BYTES, &n);

    if (text != NULL) {
        mst_tame(text, n);
        mst_format_ends(stderr, text, MST_SHOWN_LINES);
    }
    free(text);
}

/* load.c - the load tool's part in a recording: see load.h. */
#include "load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "clock.h"
#include "diag.h"

#define SHOWN_LINES 8u
#define SHOWN_BYTES 8192u

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

const char *mst_load_name(const struct mst_load *load)
{
    const char *slash = strrchr(load->plan.argv[0], '/');

    return slash != NULL ? slash + 1 : load->plan.argv[0];
}

void mst_load_follow(struct mst_load *load)
{
    mst_capture_follow(load->out_fd, &load->out_shown, STDERR_FILENO);
    mst_capture_follow(load->err_fd, &load->err_shown, STDERR_FILENO);
}

/* ---- into the archive ------------------------------------------------------------ */

/* Where things are collected from, and to. */
struct collection {
    struct mst_load    *load;
    struct mst_archive *archive;
    int64_t             run_id;
    uint64_t            started_ns;
    bool                succeeded;   /* of a tool that failed nobody expects results */
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

static int keep_result(const struct collection *c)
{
    const struct mst_load *load = c->load;
    struct mst_client_result result;
    char error[MST_ERROR_MAX];
    size_t n;
    char *text;
    int status;

    if (load->tool->parse == NULL)
        return 0;
    text = mst_capture_end(load->out_fd, MST_ARCHIVE_OUTPUT, &n);
    if (text == NULL)
        return note(c, "what the load tool printed could not be read again");
    status = load->tool->parse(&result, &load->plan, text, n, error);
    free(text);
    if (status != 0)
        return note(c, error);
    return mst_archive_add_client_result(c->archive, c->run_id, &result, &load->plan, load->tool);
}

static int take_row(void *context, const struct mst_client_row *row)
{
    const struct collection *c = context;

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

/* The file of rows, to be closed. NULL: there is none of this run. */
static FILE *open_rows(const struct collection *c)
{
    const struct mst_plan *plan = &c->load->plan;
    FILE *rows = NULL;
    int fd;

    if (plan->rows_in_fd)
        fd = dup(c->load->rows_fd);
    else   /* O_NONBLOCK: it may be a pipe, whose other end nobody holds */
        fd = open(plan->rows_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && is_fresh(fd, c->started_ns) && lseek(fd, 0, SEEK_SET) == 0)
        rows = fdopen(fd, "r");
    if (rows == NULL)
        close_fd(fd);
    return rows;
}

static int keep_rows(struct collection *c)
{
    const struct mst_load *load = c->load;
    char error[MST_ERROR_MAX];
    uint64_t bad;
    FILE *rows;
    long count;

    if (load->tool->read_rows == NULL || (!load->plan.rows_in_fd && load->plan.rows_path == NULL))
        return 0;
    rows = open_rows(c);
    if (rows == NULL)
        return note(c, "the load tool wrote no rows in this run");
    count = load->tool->read_rows(rows, take_row, c, &bad, error);
    fclose(rows);
    if (mst_archive_error(c->archive)[0] != '\0')
        return -1;
    if (count >= 0 && bad == 0)
        return 0;
    if (count >= 0)
        snprintf(error, sizeof error, "%" PRIu64 " lines among the load tool's rows are no rows "
                 "and were left out", bad);
    return note(c, error);
}

int mst_load_collect(struct mst_load *load, struct mst_archive *archive, int64_t run_id,
                     const struct mst_archive_run_end *end)
{
    struct collection c = { load, archive, run_id, end->started_ns, end->exit_status == 0 };

    if (keep_output(&c, "stdout", load->out_fd) != 0 ||
        keep_output(&c, "stderr", load->err_fd) != 0 || keep_result(&c) != 0)
        return -1;
    return keep_rows(&c);
}

/* ---- to a person ----------------------------------------------------------------- */

void mst_load_show(const struct mst_load *load)
{
    int fd = mst_capture_bytes(load->err_fd) > 0 ? load->err_fd : load->out_fd;
    size_t n, lines = 0, line = 0;
    char *text = mst_capture_end(fd, SHOWN_BYTES, &n), *at, *eol;

    if (text == NULL)
        return;
    for (at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    for (at = text; *at != '\0'; at = *eol == '\n' ? eol + 1 : eol, line++) {
        eol = strchrnul(at, '\n');
        if (line < SHOWN_LINES / 2 || line + SHOWN_LINES / 2 >= lines)
            fprintf(stderr, "  %.*s\n", (int)(eol - at), at);
        else if (line == SHOWN_LINES / 2)
            fputs("  ...\n", stderr);
    }
    free(text);
}

/* recorder.c - the recording that top's user starts: see recorder.h. */
#include "top/recorder.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strings.h"
#include "console/diag.h"
#include "console/format.h"
#include "exec/capture.h"
#include "exec/spawn.h"

#define SAID_MAX 4096u

/* This program, whatever its name and the present PATH are. */
static bool find_program(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static void add_option(struct mst_strings *words, const char *option, const char *argument)
{
    if (argument == NULL)
        return;
    mst_strings_add(words, option);
    mst_strings_add(words, argument);
}

static char **make_command(const char *program, const char *file,
                           const struct mst_target_names *targets)
{
    struct mst_strings words = { 0 };
    size_t i;

    mst_strings_add(&words, program);
    mst_strings_add(&words, "record");
    add_option(&words, "-o", file);
    for (i = 0; i < targets->count; i++)
        add_option(&words, "-t", targets->args[i]);
    add_option(&words, "--targets", targets->file);
    add_option(&words, "--ca-file", targets->ca_file);
    add_option(&words, "--token-file", targets->token_file);
    return mst_strings_steal(&words);
}

/* In a process group of its own, so that the terminal's keys do not reach it; where top is killed,
 * the kernel asks it to end. */
int mst_top_recorder_start(struct mst_top_recorder *r,
                           const struct mst_target_names *targets, char error[MST_ERROR_MAX])
{
    char program[PATH_MAX];
    char **command;

    *r = (struct mst_top_recorder){ .started_ns = mst_now_ns() };
    snprintf(r->file, sizeof r->file, "mpmstat-%s.db", mst_format_stamp().text);
    if (!find_program(program))
        return mst_fail(error, "/proc/self/exe cannot be read: no recording");
    r->said = mst_capture_open(error);
    if (r->said < 0)
        return -1;
    command = make_command(program, r->file, targets);
    if (command != NULL) {
        const struct mst_spawn spawn = {
            .argv = command, .in = MST_DEV_NULL, .out = MST_DEV_NULL, .err = r->said,
            .inherited = -1, .group = true, .orphan_signal = SIGINT,
        };

        r->pid = mst_spawn(&spawn);
    }
    if (command == NULL || r->pid < 0) {
        mst_fail(error, "no recording: %s", command == NULL ? "out of memory" : strerror(errno));
        close(r->said);
        r->pid = 0;
    }
    mst_strings_free_items(command);
    return r->pid > 0 ? 0 : -1;
}

void mst_top_recorder_stop(struct mst_top_recorder *r)
{
    if (r->pid > 0 && !r->is_ending)
        kill(r->pid, SIGINT);
    r->is_ending = true;
}

/* The last line that it said. */
static void add_reason(struct mst_top_recorder *r, char sentence[MST_ERROR_MAX])
{
    size_t length = 0, used = strlen(sentence);
    char *said = mst_capture_end(r->said, SAID_MAX, &length), *line;

    while (said != NULL && length > 0 && said[length - 1] == '\n')
        said[--length] = '\0';
    if (said != NULL && length > 0) {
        line = strrchr(said, '\n');
        snprintf(sentence + used, MST_ERROR_MAX - used, ": %s", line != NULL ? line + 1 : said);
    }
    free(said);
}

/* Without a command, ^C is a recording's usual end. */
static void describe_end(struct mst_top_recorder *r, int status, char sentence[MST_ERROR_MAX])
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    r->has_failed = code != MST_EXIT_OK;
    if (code == MST_EXIT_OK) {
        snprintf(sentence, MST_ERROR_MAX, "recorded: mpmstat report %s", r->file);
    } else if (r->is_ending && (code == MST_EXIT_INTERRUPTED || code < 0)) {
        snprintf(sentence, MST_ERROR_MAX, "nothing is recorded: it ended before it began");
    } else {
        snprintf(sentence, MST_ERROR_MAX, "the recording into %s failed", r->file);
        add_reason(r, sentence);
    }
}

bool mst_top_recorder_ended(struct mst_top_recorder *r, char sentence[MST_ERROR_MAX])
{
    int status = 0;

    if (r->pid <= 0 || waitpid(r->pid, &status, WNOHANG) != r->pid)
        return false;
    describe_end(r, status, sentence);
    close(r->said);
    r->pid = 0;
    return true;
}

bool mst_top_recorder_wait(struct mst_top_recorder *r, int timeout_ms,
                           char sentence[MST_ERROR_MAX])
{
    if (r->pid <= 0)
        return false;
    mst_top_recorder_stop(r);
    mst_spawn_wait(r->pid, timeout_ms);
    return mst_top_recorder_ended(r, sentence);
}

/* read_php_cgi.c - tells how php-cgi gets its processes, and counts the dead ones: see steps.h. */
#include "analysis/steps.h"
#include "archive/query.h"
#include "base/ratio.h"

#include <stdlib.h>
#include <string.h>

#define ENOUGH_PROCESSES 5u    /* fewer that had one request each say nothing */
#define NEARLY_ALL_MILLI 950u  /* of 1,000 requests, so many have a process that serves no other */

static bool has_handler(const struct mst_summary_server *server, const char *name)
{
    size_t i;

    for (i = 0; i < server->end_count; i++)
        if (strcmp(server->ends[i].kind, "handler") == 0 && strcmp(server->ends[i].name, name) == 0)
            return true;
    return false;
}

static bool has_handler_anywhere(const struct mst_summary *run, const char *name)
{
    size_t i;

    for (i = 0; i < run->server_count; i++)
        if (!mst_summary_is_php(&run->servers[i]) && has_handler(&run->servers[i], name))
            return true;
    return false;
}

/* Processes that stay can have had one request each, too, where there are many of them. */
static bool has_process_each(bool *each, const struct mst_summary_server *php, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, "SELECT count(*) AS requests, count(DISTINCT pid) AS "
                                       "processes FROM php_requests WHERE server_id = :id "
                                       "AND pid IS NOT NULL", php->id);

    *each = false;
    if (mst_query_next(&q)) {
        uint64_t processes = mst_row_number(&q, "processes");

        *each = processes >= ENOUGH_PROCESSES && mst_known(php->exits) >= processes / 2 &&
                mst_milli(processes, mst_row_number(&q, "requests")) >= NEARLY_ALL_MILLI;
    }
    return mst_query_done(&q);
}

/* A load tool that ends drops its requests, and Apache ends their processes then: those are of no
 * interest, also where the run before this one was the tool's. */
static bool count_deaths(struct mst_summary_server *php, sqlite3 *db, const struct mst_summary *run)
{
    const struct mst_row_member members[] = {
        { "unfinished", &php->unfinished }, { "killed", &php->killed },
        { "signalled", &php->signalled },
    };
    struct mst_query q = mst_query_ask(db,
        "SELECT total(unfinished) AS unfinished, count(*) AS killed, "
        "coalesce(sum(reason = 'signal'), 0) AS signalled FROM lifecycle "
        "WHERE server_id = :id AND event = 'exit' AND reason IN ('killed', 'signal') "
        "AND time_ns - coalesce(duration_ns, 0) >= :began AND time_ns < :ended", php->id);

    mst_query_set(&q, ":began", run->started_ns);
    mst_query_set(&q, ":ended", run->ended_ns != MST_UNKNOWN ? run->ended_ns : INT64_MAX);
    if (mst_query_next(&q))
        mst_row_numbers(&q, members, sizeof members / sizeof *members);
    return mst_query_done(&q);
}

/* mod_cgid waits for no process that it starts, so their CPU time is in no other's. */
bool mst_summary_own_unseen(struct mst_summary *run)
{
    bool is_cgi = has_handler_anywhere(run, "cgi-script"), fine = true;
    struct mst_summary_program *program = run->programs;
    size_t i;

    for (i = 0; i < run->server_count; i++)
        is_cgi |= run->servers[i].sapi_kind == MST_SAPI_CGI;
    for (; program < run->programs + run->program_count && is_cgi && fine; program++)
        if (program->owner == MST_PROC_UNSEEN) {
            program->owner = MST_PROC_SERVER;
            free(program->name);
            program->name = strdup("processes that ended unseen, most likely those of CGI");
            fine = program->name != NULL;
        }
    return fine;
}

bool mst_summary_read_php_cgi(struct mst_summary *run, sqlite3 *db)
{
    bool fcgid = has_handler_anywhere(run, "fcgid-script"), each;
    size_t i;

    for (i = 0; i < run->server_count; i++) {
        struct mst_summary_server *php = &run->servers[i];

        if (!mst_summary_is_php(php) || php->sapi == NULL || strcmp(php->sapi, "cgi-fcgi") != 0)
            continue;
        if (fcgid) {
            php->sapi_kind = MST_SAPI_FCGID;
            continue;
        }
        if (!has_process_each(&each, php, db))
            return false;
        if (!each)
            continue;
        php->sapi_kind = MST_SAPI_CGI;
        if (!count_deaths(php, db, run))
            return false;
    }
    return true;
}

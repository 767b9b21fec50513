/* recording.c - the board from the server's start to its stop.
 *
 * The parent makes the board when the server starts, before the first fork. The board is kept
 * through restarts (the module's own variables are not: httpd unloads and loads it again), so
 * that counters never go backwards while the server lives. Whatever goes wrong, the server
 * serves, and the error log says once what is not recorded.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <grp.h>
#include <http_core.h>
#include <http_main.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "write/busy.h"

APLOG_USE_MODULE(mpmstat);

/* What outlives restarts, in httpd's retained data. The key names the shape of this struct: a
 * restart may load another build of the module. */
struct mst_retained {
    struct mst_board  board;
    struct mst_layout layout;
    bool              ready;
};
#define RETAINED_KEY "mod_mpmstat retained %" APR_SIZE_T_FMT "/%" APR_SIZE_T_FMT
#define BOARD_NAME   "mpmstat.board"
#define READER_GROUP "adm"   /* the group that reads logs on Debian reads boards, too */

/* Room for twice ServerLimit: besides the children on the scoreboard, as many can have lost
 * their slots and still finish their requests (worker). */
static struct mst_layout wanted_layout(void)
{
    return (struct mst_layout){
        .producer = MST_PRODUCER_APACHE,
        .processes = 2 * (uint32_t)mst_mpm_number(AP_MPMQ_HARD_LIMIT_DAEMONS, 1),
        .threads_per_process = (uint32_t)mst_mpm_number(AP_MPMQ_HARD_LIMIT_THREADS, 1),
        .labels = mst_config.labels,
        .stripes = mst_layout_stripes(),
        .requests = mst_layout_requests(mst_config.journal),
        .lifecycle = MST_LIFECYCLE_RECORDS,
    };
}

static gid_t reader_group(void)
{
    const struct group *g = getgrnam(READER_GROUP);

    return g ? g->gr_gid : (gid_t)-1;
}

static struct mst_identity present_identity(apr_pool_t *p, const server_rec *s)
{
    return (struct mst_identity){
        .server = ap_get_server_description(),
        .mpm = ap_show_mpm(),
        .version = MPMSTAT_VERSION,
        .settings = mst_mpm_settings(p, s),
        .workers_limit = mst_mpm_workers_limit(),
        .http2_workers_limit = mst_mpm_http2_workers_limit(p),
    };
}

static void make_board(struct mst_retained *kept, apr_pool_t *p, server_rec *s)
{
    const char *path = mst_config.board ? mst_config.board : ap_runtime_dir_relative(p, BOARD_NAME);
    struct mst_identity identity = present_identity(p, s);
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX];

    kept->layout = wanted_layout();
    if (mst_board_create(&kept->board, path, &kept->layout, &identity, reader_group(),
                         warning, error) != 0) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, MPMSTAT_LOGNO(01)
                     "serving without recording: %s", error);
        return;
    }
    kept->ready = true;
    kept->board.header->generation = mst_mpm_generation();
    if (*warning)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, MPMSTAT_LOGNO(02) "%s", warning);
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, MPMSTAT_LOGNO(03)
                 "recording to %s, %" APR_SIZE_T_FMT " bytes: %u workers of %u processes, "
                 "%u labels, %u stripes, %u requests", path, kept->board.bytes,
                 kept->layout.processes * kept->layout.threads_per_process, kept->layout.processes,
                 kept->layout.labels, kept->layout.stripes, kept->layout.requests);
}

/* Whether this build can go on writing to the board from before a restart. */
static bool still_fits(const struct mst_retained *kept)
{
    struct mst_section sections[MST_SECTION_COUNT];
    char ignored[MST_ERROR_MAX];
    struct mst_reader reader;
    bool fits;

    if (mst_guard_has_lost(&kept->board.guard)
        || mst_reader_attach(&reader, kept->board.fd, kept->board.path, ignored) != 0)
        return false;
    fits = mst_board_fits(&reader, &kept->layout, sections);
    mst_reader_close(&reader);
    return fits;
}

/* Children of the old generation go on writing to the old board, which no reader finds then. */
static void replace_board(struct mst_retained *kept, apr_pool_t *p, server_rec *s)
{
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, MPMSTAT_LOGNO(07)
                 "the board %s is of another build of mpmstat, or damaged; a new one takes its "
                 "place, and all counts begin at 0", kept->board.path);
    mst_board_close(&kept->board);
    memset(kept, 0, sizeof *kept);
    make_board(kept, p, s);
}

/* After a restart the board stays, and with it the layout of the first start. */
static void keep_board(struct mst_retained *kept, apr_pool_t *p, server_rec *s)
{
    struct mst_layout wanted = wanted_layout();
    struct mst_identity identity = present_identity(p, s);

    mst_processes_sweep(&kept->board);    /* children may have ended while it was not loaded */
    kept->board.header->stopped_ns = 0;   /* note_stop() set it a moment ago */
    kept->board.header->generation = mst_mpm_generation();
    mst_board_identify(&kept->board, &identity);
    mst_busy_update(&kept->board, mst_now_ns());
    mst_processes_restarted(&kept->board, kept->board.header->generation);
    if (memcmp(&wanted, &kept->layout, sizeof wanted) != 0
        || (mst_config.board && strcmp(mst_config.board, kept->board.path) != 0))
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, MPMSTAT_LOGNO(04)
                     "the board %s keeps the place and the room that it was started with; "
                     "stop and start the server to change them", kept->board.path);
}

/* Runs when httpd frees the configuration's pool: at a restart (keep_board() then takes the stop
 * back) and at the stop. Runs in children at their exit, too: they leave the stop to the parent. */
static apr_status_t note_stop(void *board_)
{
    struct mst_board *board = board_;

    if (mst_recording.parent == (uint64_t)getpid()) {
        mst_guard_renew(&board->guard);   /* httpd has installed its own signal handlers */
        mst_recording_report_loss(ap_server_conf);
        __atomic_store_n(&board->header->stopped_ns, mst_now_ns(), __ATOMIC_RELAXED);
    }
    mst_guard_service->forget(&board->guard);   /* httpd may unload the handler's code */
    return APR_SUCCESS;
}

void mst_recording_report_loss(const server_rec *s)
{
    char sentence[MST_ERROR_MAX];

    if (mst_recording.board && mst_board_is_to_tell_loss(mst_recording.board, sentence))
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, MPMSTAT_LOGNO(08) "%s", sentence);
}

/* httpd gives a virtual host without any of this module's directives the main server's
 * configuration itself: such a host gets its own here. */
static struct mst_server_config *own_config(server_rec *s, const server_rec *main_server)
{
    struct mst_server_config *c = ap_get_module_config(s->module_config, &mst_module);

    if (s == main_server
        || c != ap_get_module_config(main_server->module_config, &mst_module))
        return c;
    c = mst_create_server_config(s->process->pconf, s);
    ap_set_module_config(s->module_config, &mst_module, c);
    return c;
}

static void intern_labels(struct mst_board *b, server_rec *servers)
{
    struct mst_label_ref *ref;
    server_rec *s;

    for (s = servers; s; s = s->next) {
        struct mst_server_config *c = own_config(s, servers);
        const char *name = s->server_hostname ? s->server_hostname : "default";

        c->label = mst_label_reserve(b, name);
        c->tenant = mst_label_owner(name);
    }
    for (ref = mst_config.refs; ref; ref = ref->next)
        ref->index = mst_label_reserve(b, ref->name);
}

/* ThreadsPerChild, at most the ThreadLimit that the board has room for. */
static uint32_t threads_used(const struct mst_board *b)
{
    uint32_t threads = (uint32_t)mst_mpm_number(AP_MPMQ_MAX_THREADS, 1);

    return threads < b->threads ? threads : b->threads;
}

/* Each on cache lines of its own. They are not from a child's pool, as connections are cleaned up
 * after that. */
static struct mst_thread *make_threads(apr_pool_t *pconf, uint32_t count)
{
    const size_t line = sizeof(struct mst_thread);
    uintptr_t room = (uintptr_t)apr_pcalloc(pconf, (count + 1) * line);

    return (struct mst_thread *)((room + line - 1) / line * line);
}

static void begin_recording(struct mst_board *b, apr_pool_t *pconf)
{
    mst_recording.parent = (uint64_t)getpid();
    mst_recording.board = b;
    mst_recording.started_ns = b->header->started_ns + (uint64_t)b->header->realtime_offset_ns;
    mst_recording.listener_thread = mst_mpm_number(AP_MPMQ_IS_THREADED, AP_MPMQ_NOT_SUPPORTED)
                                    != AP_MPMQ_NOT_SUPPORTED;
    mst_recording.suspends = mst_mpm_number(AP_MPMQ_IS_ASYNC, 0) > 0;
    mst_recording.stripes = b->stripe_mask + 1;
    mst_recording.threads = b->threads;
    mst_recording.worker_threads = make_threads(pconf, b->threads);
    mst_recording.idle_enough_ns = 2 * MST_NS_PER_S / mst_host_hz();
    b->threads_used = threads_used(b);
    mst_forks_watch();
}

int mst_recording_open(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    struct mst_retained *kept;
    const char *key;

    (void)plog;
    memset(&mst_recording, 0, sizeof mst_recording);
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
        return OK;   /* httpd reads the configuration twice; this is the first time */
    key = apr_psprintf(pconf, RETAINED_KEY, sizeof kept->board, sizeof kept->layout);
    kept = ap_retained_data_get(key);
    if (!kept)
        kept = ap_retained_data_create(key, sizeof *kept);
    mst_guard_renew(&kept->board.guard);
    if (!kept->ready)
        make_board(kept, ptemp, s);
    else if (still_fits(kept))
        keep_board(kept, ptemp, s);
    else
        replace_board(kept, ptemp, s);
    if (!kept->ready)
        return OK;
    apr_pool_cleanup_register(pconf, &kept->board, note_stop, apr_pool_cleanup_null);
    intern_labels(&kept->board, s);
    begin_recording(&kept->board, pconf);
    return OK;
}

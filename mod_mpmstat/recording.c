/* recording.c - the board's life in Apache.
 *
 * The parent makes the board when the server starts, before the first fork. It
 * is kept through restarts (the module's own variables are not: httpd unloads
 * and reloads it), so counters never go backwards while the server lives. Each
 * child claims a process entry. Whatever goes wrong, the server serves; what is
 * then not recorded is said once in the error log.
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

struct mst_recording mst_recording;

/* What outlives restarts. In httpd's retained data, under a key for each shape: a
 * restart may load another build of the module. */
struct mst_retained {
    struct mst_board  board;
    struct mst_layout layout;
    bool              ready;
};
#define RETAINED_KEY "mod_mpmstat retained %" APR_SIZE_T_FMT "/%" APR_SIZE_T_FMT
#define BOARD_NAME   "mpmstat.board"
#define READER_GROUP "adm"   /* who reads logs on Debian may read boards */

int mst_mpm_number(int query, int unless_positive)
{
    int n = 0;

    if (ap_mpm_query(query, &n) != APR_SUCCESS || n <= 0)
        return unless_positive;
    return n;
}

static uint64_t mpm_generation(void)
{
    int generation = 0;

    return ap_mpm_query(AP_MPMQ_GENERATION, &generation) == APR_SUCCESS && generation > 0
        ? (uint64_t)generation : 0;
}

static uint64_t workers_limit(void)
{
    return (uint64_t)mst_mpm_number(AP_MPMQ_MAX_DAEMONS, 1)
         * (uint64_t)mst_mpm_number(AP_MPMQ_MAX_THREADS, 1);
}

/* ThreadsPerChild, of the ThreadLimit that there is room for. */
static uint32_t threads_used(const struct mst_board *b)
{
    uint32_t threads = (uint32_t)mst_mpm_number(AP_MPMQ_MAX_THREADS, 1);

    return threads < b->threads ? threads : b->threads;
}

/* Room for twice ServerLimit: beside the children on the scoreboard there can
 * be as many that lost their slot and finish their requests (worker). */
static struct mst_layout wanted_layout(void)
{
    return (struct mst_layout){
        .producer = MST_PRODUCER_APACHE,
        .processes = 2 * (uint32_t)mst_mpm_number(AP_MPMQ_HARD_LIMIT_DAEMONS, 1),
        .threads_per_process = (uint32_t)mst_mpm_number(AP_MPMQ_HARD_LIMIT_THREADS, 1),
        .labels = mst_config.labels,
        .stripes = mst_layout_stripes(),
        .requests = mst_config.journal,
        .lifecycle = MST_LIFECYCLE_RECORDS,
    };
}

void mst_recording_relimit(struct mst_board *b)
{
    uint64_t limit = workers_limit();

    if (limit == __atomic_load_n(&b->header->workers_limit, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&b->header->workers_limit, limit, __ATOMIC_RELAXED);
    mst_busy_settle(b, mst_now_ns());
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
        .settings = mst_settings(p, s, workers_limit()),
        .workers_limit = workers_limit(),
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
    kept->board.header->generation = mpm_generation();
    if (*warning)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, MPMSTAT_LOGNO(02) "%s", warning);
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, MPMSTAT_LOGNO(03)
                 "recording to %s, %" APR_SIZE_T_FMT " bytes: %u workers of %u processes, "
                 "%u labels, %u stripes, %u requests", path, kept->board.bytes,
                 kept->layout.processes * kept->layout.threads_per_process, kept->layout.processes,
                 kept->layout.labels, kept->layout.stripes, kept->layout.requests);
}

/* Whether the board from before a restart is one that this build writes. */
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

/* Children of the old generation go on to write to the old board, which is theirs alone then. */
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

    mst_lifecycle_sweep(&kept->board);    /* the module may have been away for a while */
    kept->board.header->stopped_ns = 0;   /* set when the old configuration was let go */
    kept->board.header->generation = mpm_generation();
    mst_board_identify(&kept->board, &identity);
    mst_busy_settle(&kept->board, mst_now_ns());
    mst_lifecycle_generation(&kept->board, kept->board.header->generation);
    if (memcmp(&wanted, &kept->layout, sizeof wanted) != 0
        || (mst_config.board && strcmp(mst_config.board, kept->board.path) != 0))
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, MPMSTAT_LOGNO(04)
                     "the board %s keeps the place and the room that it was started with; "
                     "stop and start the server to change them", kept->board.path);
}

/* Runs when the configuration is let go: at a restart (undone by keep_board a
 * moment later) and at the stop. Also in children, at exit: not theirs to say. */
static apr_status_t note_stop(void *board_)
{
    struct mst_board *board = board_;

    if (mst_recording.parent == (uint64_t)getpid()) {
        mst_guard_renew(&board->guard);   /* httpd has taken its signal handlers back */
        mst_recording_tell_loss(ap_server_conf);
        __atomic_store_n(&board->header->stopped_ns, mst_now_ns(), __ATOMIC_RELAXED);
    }
    mst_guard_service->forget(&board->guard);   /* the handler's code may be unloaded */
    return APR_SUCCESS;
}

void mst_recording_tell_loss(const server_rec *s)
{
    char sentence[MST_ERROR_MAX];

    if (mst_recording.board && mst_board_is_to_tell_loss(mst_recording.board, sentence))
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, MPMSTAT_LOGNO(08) "%s", sentence);
}

/* httpd gives a virtual host without any of this module's directives the main server's
 * configuration itself. */
static struct mst_server_config *own_config(server_rec *s, const server_rec *main_server)
{
    struct mst_server_config *c = ap_get_module_config(s->module_config, &mpmstat_module);

    if (s == main_server
        || c != ap_get_module_config(main_server->module_config, &mpmstat_module))
        return c;
    c = mst_create_server_config(s->process->pconf, s);
    ap_set_module_config(s->module_config, &mpmstat_module, c);
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

static int open_recording(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    struct mst_retained *kept;
    const char *key;

    (void)plog;
    memset(&mst_recording, 0, sizeof mst_recording);
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
        return OK;   /* the rehearsal that httpd does before every start */
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
    mst_recording.parent = (uint64_t)getpid();
    apr_pool_cleanup_register(pconf, &kept->board, note_stop, apr_pool_cleanup_null);
    intern_labels(&kept->board, s);
    mst_recording.board = &kept->board;
    mst_forks_watch();
    mst_recording.listener_thread = mst_mpm_number(AP_MPMQ_IS_THREADED, AP_MPMQ_NOT_SUPPORTED)
                                    != AP_MPMQ_NOT_SUPPORTED;
    mst_recording.suspends = mst_mpm_number(AP_MPMQ_IS_ASYNC, 0) > 0;
    mst_recording.stripes = kept->board.stripe_mask + 1;
    mst_recording.threads = kept->board.threads;
    kept->board.threads_used = threads_used(&kept->board);
    mst_recording.idle_enough_ns = 2 * MST_NS_PER_S / mst_host_hz();
    return OK;
}

/* The forked processes of this child run its cleanups, too. */
static apr_status_t note_clean_exit(void *process)
{
    if (mst_recording.forked)
        mst_forks_own_end(mst_recording.board);
    else
        __atomic_store_n(&((struct mst_process *)process)->clean_exit, 1, __ATOMIC_RELAXED);
    return APR_SUCCESS;
}

/* Ids of this process are those of its serial number: nobody else's. */
static uint64_t id_base(uint64_t serial)
{
    return (serial & 0x1fffff) << 32;
}

/* Where the process has no entry, which keeps them apart: a number of its own, and its
 * forks another. */
static void number_without_entry(struct mst_board *b)
{
    static uint64_t ids;

    ids = 0;
    mst_recording.ids = &ids;
    mst_recording.id_base =
        id_base(__atomic_add_fetch(&b->header->serial, 1, __ATOMIC_RELAXED));
}

static void join_board(apr_pool_t *pchild, server_rec *s)
{
    struct mst_board *b = mst_recording.board;
    int process;

    if (!b)
        return;
    mst_recording.pid = mst_recording.owner = (uint64_t)getpid();
    mst_forks_joined(b, mst_recording.pid);
    mst_busy_mend_waiting(b);
    process = mst_process_claim(b, mst_recording.pid, mpm_generation(), mst_now_ns());
    if (process < 0) {
        number_without_entry(b);
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, MPMSTAT_LOGNO(05)
                     "all %u process entries of the board are taken; this child's requests are "
                     "counted, its workers are not shown", b->process_count);
        return;
    }
    mst_recording.self = &b->processes[process];
    mst_recording.ids = &mst_recording.self->request_ids;
    mst_recording.id_base = id_base(mst_recording.self->serial);
    mst_recording.first_worker = (uint32_t)process * b->threads;
    mst_recording.workers = &b->workers[mst_recording.first_worker];
    mst_recording.in_flight = &b->in_flight[(size_t)process * b->in_flight_stride];
    apr_pool_cleanup_register(pchild, mst_recording.self, note_clean_exit, apr_pool_cleanup_null);
}

void mst_recording_forked(void)
{
    mst_recording.pid = (uint64_t)getpid();
    mst_recording.forked = true;
    mst_recording.forks_running = 0;
    if (!mst_recording.self)
        number_without_entry(mst_recording.board);
}

void mst_recording_register(apr_pool_t *p)
{
    (void)p;
    /* Before the helpers of other modules are forked (cgid's, fcgid's). */
    ap_hook_post_config(open_recording, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_child_init(join_board, NULL, NULL, APR_HOOK_FIRST);
}

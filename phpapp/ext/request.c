/* request.c - one request: time stamps, the worker's state, counters, journal record.
 *
 * This is the hot path: no lock and no allocation; the only system call is getrusage(), for the
 * CPU time, once at the beginning and once at the end. A request ends at post-deactivate, after
 * the script, its shutdown functions, the output and the other extensions; only the SAPI's last
 * flush follows.
 */
#include "request.h"

#include <SAPI.h>
#include <string.h>
#include <sys/resource.h>
#include <zend_compile.h>
#include <zend_extensions.h>
#include <zend_execute.h>
#include <zend_gc.h>

#include "base/clock.h"
#include "compat.h"
#include "label.h"
#include "lifecycle.h"
#include "profile.h"
#include "state.h"
#include "waits.h"
#include "write/busy.h"
#include "write/journal.h"
#include "write/worker.h"

/* Errors that always end a request, and those that a script's handler can take. */
#define FATAL       (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_PARSE)
#define MAYBE_FATAL (E_RECOVERABLE_ERROR | E_USER_ERROR)

static void note_error(int type)
{
    if (type & FATAL) {
        MPMSTAT_G(fatal) = true;
        mst_waits_break();
    }
    if (type & MAYBE_FATAL)
        MPMSTAT_G(maybe_fatal) = true;
}

static mst_see_error *next_see_error;

static void see_error(MST_ERROR_PARAMETERS)
{
    note_error(type);
    if (next_see_error)
        next_see_error(MST_ERROR_ARGUMENTS);
}

/* OPcache's own function runs first, and calls this one for scripts that it does not have (or
 * cannot use). So a script that ran without being compiled here was cached. */
static zend_op_array *(*next_compile_file)(zend_file_handle *, int);

static bool is_setting(const char *name, const char *setting)
{
    return setting && strcmp(name, setting) == 0;
}

/* The request's own script: no code runs yet that could include it. The handle's primary_script
 * would tell it, but FPM loses that (8.1, 8.2). */
static bool is_script_of_request(const zend_file_handle *file)
{
    const char *name = mst_file_name(file);

    return EG(current_execute_data) == NULL && !is_setting(name, PG(auto_prepend_file))
        && !is_setting(name, PG(auto_append_file));
}

/* The thread's clock is a system call: a small part of what compiling a file takes. */
static zend_op_array *see_compilation(zend_file_handle *file, int type)
{
    zend_op_array *compiled;
    uint64_t began_ns;

    if (is_script_of_request(file))
        MPMSTAT_G(compiled) = true;
    if (!MPMSTAT_G(active))
        return next_compile_file(file, type);
    began_ns = mst_clock_read(CLOCK_THREAD_CPUTIME_ID);
    compiled = next_compile_file(file, type);
    MPMSTAT_G(compiled_until_ns) = mst_clock_read(CLOCK_THREAD_CPUTIME_ID);
    MPMSTAT_G(compile_ns) += MPMSTAT_G(compiled_until_ns) - began_ns;
    return compiled;
}

/* What OPcache does with a script after that belongs to it: it optimizes the script, which can take
 * longer, and keeps it where there is room. */
static zend_op_array *(*opcache_compile_file)(zend_file_handle *, int);

static zend_op_array *see_opcache(zend_file_handle *file, int type)
{
    zend_op_array *compiled = opcache_compile_file(file, type);

    if (MPMSTAT_G(compiled_until_ns) > 0)
        MPMSTAT_G(compile_ns) += mst_clock_read(CLOCK_THREAD_CPUTIME_ID)
                               - MPMSTAT_G(compiled_until_ns);
    MPMSTAT_G(compiled_until_ns) = 0;
    return compiled;
}

/* OPcache puts its function in front of that above after all modules have started. A thread does
 * this with its first request. Several threads that do it at once store the same: what another one
 * stores after this one has read is not read again. */
static void stand_before_opcache(void)
{
    zend_op_array *(*now)(zend_file_handle *, int) = __atomic_load_n(&zend_compile_file,
                                                                     __ATOMIC_RELAXED);

    if (now == see_opcache || zend_get_extension("Zend OPcache") == NULL)
        return;
    opcache_compile_file = now;
    __atomic_store_n(&zend_compile_file, see_opcache, __ATOMIC_RELEASE);
}

/* The engine looks for garbage where 10,000 roots or more can be it. Destructors that it calls then
 * count, too. */
static int (*next_collect)(void);

static int see_collection(void)
{
    uint64_t began_ns;
    int collected;

    if (!MPMSTAT_G(active))
        return next_collect();
    began_ns = mst_clock_read(CLOCK_THREAD_CPUTIME_ID);
    collected = next_collect();
    MPMSTAT_G(gc_ns) += mst_clock_read(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    return collected;
}

/* PHP reads a form before RINIT. What it waits for is the client's upload, which is not a wait for
 * PHP. Under mod_php Apache leaves it out of what it hands over (mod_mpmstat/upload.c). After its
 * end, a request reads what its script left of the body: the header fields are sent by then, and
 * the next request waits for the worker. */
static size_t (*next_read_post)(char *, size_t);

static size_t time_reading(char *buffer, size_t size)
{
    uint64_t began_ns;
    size_t bytes;

    if (MPMSTAT_G(active) || SG(headers_sent))
        return next_read_post(buffer, size);
    began_ns = mst_now_ns();
    bytes = next_read_post(buffer, size);
    MPMSTAT_G(upload_ns) += mst_now_ns() - began_ns;
    return bytes;
}

void mst_request_start_watching(void)
{
    if (mst_php.origin != MST_ORIGIN_APACHE && sapi_module.read_post) {
        next_read_post = sapi_module.read_post;
        sapi_module.read_post = time_reading;
    }
    next_compile_file = zend_compile_file;
    zend_compile_file = see_compilation;
    next_collect = gc_collect_cycles;
    gc_collect_cycles = see_collection;
    next_see_error = mst_watch_errors(see_error);
}

void mst_request_stop_watching(void)
{
    if (sapi_module.read_post == time_reading)
        sapi_module.read_post = next_read_post;
    if (zend_compile_file == see_opcache)
        zend_compile_file = opcache_compile_file;
    if (zend_compile_file == see_compilation)
        zend_compile_file = next_compile_file;
    if (gc_collect_cycles == see_collection)
        gc_collect_cycles = next_collect;
    mst_unwatch_errors(see_error, next_see_error);
}

/* ---- what the request brings ----------------------------------------------------------- */

/* The SAPI's own text, which unlike sapi_getenv()'s is neither copied nor filtered. */
static const char *variable(const char *name, size_t length)
{
    return sapi_module.getenv ? sapi_module.getenv((char *)name, length) : NULL;
}

/* The wait is unknown where the text is of another boot or time namespace (a container). The id
 * is of this machine's Apache only where the boot is this one. */
static void read_distant_handover(const char *text)
{
    struct mst_handover handover;

    if (mst_handover_parse(&handover, text) && strcmp(handover.boot, mst_php.boot) == 0)
        MPMSTAT_G(id) = handover.id;
}

static void read_request_start(void)
{
    const char *text = variable(ZEND_STRL("HTTP_X_REQUEST_START"));

    if (text)
        MPMSTAT_G(wait_ns) = mst_request_start_age(mst_request_start_parse(text),
                                                   mst_realtime_ns() - MPMSTAT_G(upload_ns));
}

/* now_ns: when PHP began, less its time for reading the body. */
static void read_handover(uint64_t now_ns)
{
    const char *text = variable(ZEND_STRL(MST_HANDOVER_VARIABLE));
    uint64_t id, time_ns;

    MPMSTAT_G(id) = MPMSTAT_G(wait_ns) = MST_UNKNOWN;
    if (text && mst_php.boot[0] == '\0')
        return;   /* it is unknown whether its clock is this one */
    if (text && mst_handover_parse_here(text, mst_php.place, &id, &time_ns)) {
        MPMSTAT_G(id) = id;
        if (time_ns <= now_ns)
            MPMSTAT_G(wait_ns) = now_ns - time_ns;
        return;
    }
    if (text)
        read_distant_handover(text);
    else if (MPMSTAT_G(trust_request_start))
        read_request_start();
}

static void read_script(void)
{
    const char *path = SG(request_info).path_translated;
    size_t length = path ? strlen(path) : 0;
    size_t cut = length >= MST_PATH_MAX ? length - (MST_PATH_MAX - 1) : 0;

    memset(MPMSTAT_G(script), 0, MST_PATH_MAX);
    if (path)
        memcpy(MPMSTAT_G(script), path + cut, length - cut);
}

static void read_cpu(uint64_t *user_ns, uint64_t *system_ns)
{
    struct rusage used;

    if (getrusage(RUSAGE_THREAD, &used) != 0) {
        *user_ns = *system_ns = MST_UNKNOWN;
        return;
    }
    *user_ns = (uint64_t)used.ru_utime.tv_sec * MST_NS_PER_S
             + (uint64_t)used.ru_utime.tv_usec * MST_NS_PER_US;
    *system_ns = (uint64_t)used.ru_stime.tv_sec * MST_NS_PER_S
               + (uint64_t)used.ru_stime.tv_usec * MST_NS_PER_US;
}

static uint64_t spent(uint64_t from, uint64_t to)
{
    if (from == MST_UNKNOWN || to == MST_UNKNOWN)
        return MST_UNKNOWN;
    return to > from ? to - from : 0;
}

/* Returns the part's time, at most what is left of the whole, and takes it off that: the CPU's
 * clocks differ a little from the wall's. */
static uint64_t part_of(uint64_t ns, uint64_t *left_ns)
{
    if (ns == MST_UNKNOWN)
        return ns;
    if (ns > *left_ns)
        ns = *left_ns;
    *left_ns -= ns;
    return ns;
}

/* ---- beginning -------------------------------------------------------------------------- */

static void show_on_worker(void)
{
    struct mst_worker *w = MPMSTAT_G(worker);

    if (!w)
        return;
    mst_busy_begin(&mst_php.board, mst_php.self, MPMSTAT_G(start_ns));
    MPMSTAT_G(state_since_ns) = mst_worker_enter(w, MST_STATE_HANDLING, MPMSTAT_G(state_since_ns),
                                                 MPMSTAT_G(start_ns));
    mst_worker_show(w, MPMSTAT_G(id), MPMSTAT_G(start_ns), MPMSTAT_G(label_index));
    memcpy(w->path, MPMSTAT_G(script), sizeof w->path);
}

/* OPcache preloads in a request of its own as PHP starts, for which it removes the SAPI's
 * functions. No version has another sign of it; the command line has the function. */
static bool is_preloading(void)
{
    return sapi_module.deactivate == NULL;
}

/* `php-cgi -i` and others run a request, too, which no client sent. */
static bool is_request(void)
{
    return SG(request_info).request_method != NULL
        || (strcmp(sapi_module.name, "cli") == 0 && !is_preloading());
}

/* Whether this process is not a worker of the board: not yet, or (with threads) not any more. */
static bool is_outside(void)
{
    return !__atomic_load_n(&mst_php.pid, __ATOMIC_ACQUIRE) || mst_php.is_forked
        || (MPMSTAT_THREADS > 1 && mst_php.given_up);
}

void mst_request_begin(void)
{
    if (!is_request() || (is_outside() && !mst_lifecycle_join()))
        return;
    if (MPMSTAT_G(joined) != mst_php.joins) {
        mst_lifecycle_thread();
        stand_before_opcache();
    }
    MPMSTAT_G(start_ns) = mst_now_ns();
    read_handover(MPMSTAT_G(start_ns) - MPMSTAT_G(upload_ns));
    read_script();
    mst_label_choose();
    MPMSTAT_G(fatal) = MPMSTAT_G(maybe_fatal) = false;
    MPMSTAT_G(compiled) = MPMSTAT_G(executed) = false;
    MPMSTAT_G(marks) = 0;
    MPMSTAT_G(compile_ns) = MPMSTAT_G(compiled_until_ns) = MPMSTAT_G(gc_ns) = 0;
    show_on_worker();
    read_cpu(&MPMSTAT_G(user_ns), &MPMSTAT_G(system_ns));
    mst_waits_begin(MPMSTAT_G(start_ns), MPMSTAT_G(user_ns) == MST_UNKNOWN ? MST_UNKNOWN
                    : MPMSTAT_G(user_ns) + MPMSTAT_G(system_ns));
    mst_profile_begin();
    MPMSTAT_G(active) = true;
}

void mst_request_mark(const char *name, size_t length)
{
    struct mst_mark mark = {
        .request_start_ns = MPMSTAT_G(start_ns),
        .pid = mst_php.pid,
    };

    if (MPMSTAT_G(marks) >= MPMSTAT_MARKS_MAX)
        return;
    MPMSTAT_G(marks)++;
    mark.time_ns = mst_now_ns();
    memcpy(mark.name, name, length < sizeof mark.name ? length : sizeof mark.name - 1);
    mst_journal_mark(&mst_php.board, &mark);
}

/* ---- end --------------------------------------------------------------------------------- */

/* The list of the scripts that ran is gone after RSHUTDOWN. */
void mst_request_note(void)
{
    MPMSTAT_G(executed) = zend_hash_num_elements(&EG(included_files)) > 0;
    if (MPMSTAT_G(maybe_fatal) && EG(exit_status) == 255)
        MPMSTAT_G(fatal) = true;
}

static uint32_t flags(void)
{
    uint32_t set = 0;

    if (PG(connection_status) & PHP_CONNECTION_ABORTED)
        set |= MST_PHP_ABORTED;
    if (PG(connection_status) & PHP_CONNECTION_TIMEOUT)
        set |= MST_PHP_TIMEOUT;
    else if (MPMSTAT_G(fatal))
        set |= MST_PHP_FATAL;
    if (MPMSTAT_G(compiled))
        set |= MST_PHP_UNCACHED;
    else if (MPMSTAT_G(executed))
        set |= MST_PHP_CACHED;
    return set;
}

/* Without a status (cli) the class is that of a server's response. */
static enum mst_class class_of(int status, uint32_t set)
{
    if (set & MST_PHP_ABORTED)
        return MST_CLASS_ABORTED;
    if (status >= 100 && status <= 599)
        return (enum mst_class)(status / 100 - 1);
    return set & (MST_PHP_FATAL | MST_PHP_TIMEOUT) ? MST_CLASS_5XX : MST_CLASS_2XX;
}

static void keep_maximum(uint64_t *word, uint64_t value)
{
    uint64_t max = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (value > max && !__atomic_compare_exchange_n(word, &max, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

static void count_request(const struct mst_php_request *r, enum mst_class status_class,
                          uint32_t set)
{
    struct mst_counters *t = mst_counters_of(&mst_php.board, MPMSTAT_G(label_index),
                                             MPMSTAT_G(stripe));
    struct mst_histogram *times = t->times;

    mst_count(&t->status[status_class], 1);
    if (r->user_ns != MST_UNKNOWN) {
        mst_count(&t->php_user_ns, r->user_ns);
        mst_count(&t->php_system_ns, r->system_ns);
    }
    if (r->compile_ns > 0)   /* mostly OPcache has all of it */
        mst_count(&t->php_compile_ns, r->compile_ns);
    if (r->gc_ns > 0)
        mst_count(&t->php_gc_ns, r->gc_ns);
    if (set & MST_PHP_FATAL)
        mst_count(&t->php_fatal, 1);
    if (set & MST_PHP_TIMEOUT)
        mst_count(&t->php_timeouts, 1);
    if (set & MST_PHP_UNCACHED)
        mst_count(&t->php_uncached, 1);
    keep_maximum(&t->php_memory_bytes, r->memory_bytes);
    mst_histogram_record(&times[mst_phase_index(MST_PRODUCER_PHP, MST_PHASE_PHP_RUN)], r->run_ns);
    if (r->wait_ns == MST_UNKNOWN)
        return;
    mst_histogram_record(&times[mst_phase_index(MST_PRODUCER_PHP, MST_PHASE_PHP_WAIT)], r->wait_ns);
    mst_histogram_record(&times[mst_phase_index(MST_PRODUCER_PHP, MST_PHASE_TOTAL)],
                         r->wait_ns + r->run_ns);
}

static void leave_worker(uint64_t now_ns)
{
    struct mst_worker *w = MPMSTAT_G(worker);

    if (!w || mst_worker_has_left())
        return;
    __atomic_store_n(&w->requests, w->requests + 1, __ATOMIC_RELAXED);
    mst_worker_show_none(w);
    MPMSTAT_G(state_since_ns) = mst_worker_enter(w, MST_STATE_IDLE, MPMSTAT_G(state_since_ns),
                                                 now_ns);
    mst_busy_end(&mst_php.board, mst_php.self, now_ns);
}

/* They are parts of the CPU time, which has another clock. A file that throws in compilation has
 * none: the engine jumps over the hook. */
static void set_parts_of_cpu(struct mst_php_request *r)
{
    uint64_t left_ns = r->user_ns == MST_UNKNOWN ? 0 : r->user_ns + r->system_ns;

    r->compile_ns = part_of(MPMSTAT_G(compile_ns), &left_ns);
    r->gc_ns = part_of(MPMSTAT_G(gc_ns), &left_ns);
}

void mst_request_end(void)
{
    int status = SG(sapi_headers).http_response_code;
    struct mst_php_request record;
    uint64_t user_ns, system_ns, now, left;
    uint32_t set = flags();

    MPMSTAT_G(active) = false;
    if (mst_worker_has_left())
        return;
    read_cpu(&user_ns, &system_ns);
    now = mst_now_ns();
    record.id = MPMSTAT_G(id);
    record.start_ns = MPMSTAT_G(start_ns);
    record.wait_ns = MPMSTAT_G(wait_ns);
    record.run_ns = left = now - MPMSTAT_G(start_ns);
    record.user_ns = part_of(spent(MPMSTAT_G(user_ns), user_ns), &left);
    record.system_ns = part_of(spent(MPMSTAT_G(system_ns), system_ns), &left);
    mst_waits_end(&record, left);
    set_parts_of_cpu(&record);
    record.memory_bytes = zend_memory_peak_usage(0);
    record.label_status = (uint64_t)MPMSTAT_G(label_index) << 32 | set << 16
                        | ((uint32_t)status & 0xffff);
    record.pid_worker = mst_php.pid << 32 | MPMSTAT_G(worker_index);
    memcpy(record.script, MPMSTAT_G(script), sizeof record.script);
    count_request(&record, class_of(status, set), set);
    mst_journal_php_request(&mst_php.board, &record);
    leave_worker(now);
    mst_lifecycle_tell_loss();
}

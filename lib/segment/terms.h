/* terms.h - the words of the board: states, phases, intervals, waits and the other enumerations
 * that all formats show, and the room for names.
 */
#ifndef MPMSTAT_TERMS_H
#define MPMSTAT_TERMS_H

#include <stdint.h>

#define MST_NAME_MAX        64u         /* a label or field name, with its NUL */
#define MST_FRAME_FUNCTION_MAX 96u      /* a function of PHP's code, with its NUL */
#define MST_FRAME_FILE_MAX     136u     /* its file, with its NUL */
#define MST_PATH_MAX        64u         /* a URL path in a worker's entry, cut, with its NUL */
#define MST_PATH_NAME_MAX   112u        /* a folded path's name, with its NUL; a multiple of 8 */
#define MST_MARK_MAX        40u         /* a mark's name, with its NUL */
#define MST_SETTINGS_MAX    320u        /* a server's limits and timeouts, with the NUL */

/* A number that was not measured. Formats show it as null or leave it out; it is never 0. */
#define MST_UNKNOWN         UINT64_MAX

/* The fixed enumerations: X(ENUM_SUFFIX, "name"). The names are promises, since every format
 * shows them. The order is that of the file: new members go to the end. */
#define MST_STATES(X) \
    X(IDLE,      "idle")      \
    X(READING,   "reading")   \
    X(HANDLING,  "handling")  \
    X(SENDING,   "sending")   \
    X(KEEPALIVE, "keepalive") \
    X(CLOSING,   "closing")   \
    X(LOGGING,   "logging")

#define MST_PHASES(X) \
    X(QUEUE,  "queue")  \
    X(READ,   "read")   \
    X(HANDLE, "handle") \
    X(SEND,   "send")   \
    X(TOTAL,  "total")  \
    X(HELD,   "held")   \
    X(FRONT,  "front")  \
    X(PHP_WAIT, "php_wait") \
    X(PHP_RUN,  "php_run")

/* Intervals: parts of a request's phases (parts.def says of which), and what follows the response.
 * docs/measuring.md defines all of them. */
#define MST_INTERVALS(X) \
    X(TLS,     "tls")     X(H2_WAIT, "h2_wait") X(CHECKS,  "checks") X(UPLOAD, "upload") \
    X(BACKEND, "backend") X(SEND_CLIENT, "send_client") X(SEND_NETWORK, "send_network") \
    X(SEND_SERVER, "send_server") X(UNDELIVERED, "undelivered") X(LOG, "log")

/* What PHP waits for. */
#define MST_WAITS(X) \
    X(DATABASE, "database") X(CACHE, "cache")   X(HTTP, "http") X(LOCK, "lock") X(FILE, "file") \
    X(PROCESS,  "process")  X(DNS,   "dns")     X(MAIL, "mail") X(SLEEP, "sleep") \
    X(STREAM,   "stream")

/* What an other end is. Those of PHP's waits are called as the wait. */
#define MST_END_KINDS(X) \
    X(HANDLER, "handler") X(BACKEND, "backend") MST_WAITS(X)

#define MST_CLASSES(X) \
    X(1XX, "1xx") X(2XX, "2xx") X(3XX, "3xx") X(4XX, "4xx") X(5XX, "5xx") \
    X(ABORTED, "aborted")

#define MST_KINDS(X) \
    X(CHILD, "child") X(REQUEST, "request") X(HELPER, "helper") X(PHP, "php")

#define MST_REASONS(X) \
    X(CLEAN, "clean") X(SIGNAL, "signal") X(KILLED, "killed") X(UNKNOWN, "unknown")

#define MST_EVENTS(X) \
    X(FORK, "fork") X(EXIT, "exit") X(GENERATION, "generation") \
    X(LIMIT, "limit") X(FORK_FAILED, "fork-failed")

/* Of PHP's OPcache. A full one takes no more scripts. */
#define MST_OPCACHE_STATES(X) \
    X(UNKNOWN, "unknown") X(OFF, "off") X(ON, "on") X(FULL, "full") X(RESTARTING, "restarting")

#define MST_ENUM_MEMBER(prefix, suffix) prefix##suffix,
#define MST_X_OPCACHE(s, n) MST_ENUM_MEMBER(MST_OPCACHE_, s)
#define MST_X_STATE(s, n)  MST_ENUM_MEMBER(MST_STATE_, s)
#define MST_X_PHASE(s, n)  MST_ENUM_MEMBER(MST_PHASE_, s)
#define MST_X_INTERVAL(s, n) MST_ENUM_MEMBER(MST_INTERVAL_, s)
#define MST_X_WAIT(s, n)   MST_ENUM_MEMBER(MST_WAIT_, s)
#define MST_X_END_KIND(s, n) MST_ENUM_MEMBER(MST_END_, s)
#define MST_X_CLASS(s, n)  MST_ENUM_MEMBER(MST_CLASS_, s)
#define MST_X_KIND(s, n)   MST_ENUM_MEMBER(MST_KIND_, s)
#define MST_X_REASON(s, n) MST_ENUM_MEMBER(MST_REASON_, s)
#define MST_X_EVENT(s, n)  MST_ENUM_MEMBER(MST_EVENT_, s)
enum mst_state  { MST_STATES(MST_X_STATE)   MST_STATE_COUNT };
enum mst_phase  { MST_PHASES(MST_X_PHASE)   MST_PHASE_COUNT };
enum mst_interval { MST_INTERVALS(MST_X_INTERVAL) MST_INTERVAL_COUNT };
enum mst_wait   { MST_WAITS(MST_X_WAIT)     MST_WAIT_COUNT };
enum mst_other_end_kind { MST_END_KINDS(MST_X_END_KIND) MST_END_KIND_COUNT };
enum mst_class  { MST_CLASSES(MST_X_CLASS)  MST_CLASS_COUNT };
enum mst_kind   { MST_KINDS(MST_X_KIND)     MST_KIND_COUNT };
enum mst_reason { MST_REASONS(MST_X_REASON) MST_REASON_COUNT };
enum mst_opcache_state { MST_OPCACHE_STATES(MST_X_OPCACHE) MST_OPCACHE_STATE_COUNT };
enum mst_event  { MST_EVENTS(MST_X_EVENT)   MST_EVENT_COUNT };

enum mst_producer { MST_PRODUCER_APACHE = 1, MST_PRODUCER_PHP = 2 };

/* The index of a phase's histogram in struct mst_counters, which has one for each phase of the
 * board's producer; -1 where that producer does not have the phase. Apache's are in the order
 * of MST_PHASES, PHP's are wait, run, total. */
#define MST_COUNTED_PHASES 7u
static inline int mst_phase_index(uint32_t producer, enum mst_phase phase)
{
    if (producer != MST_PRODUCER_PHP)
        return phase <= MST_PHASE_FRONT ? (int)phase : -1;
    switch (phase) {
    case MST_PHASE_PHP_WAIT: return 0;
    case MST_PHASE_PHP_RUN:  return 1;
    case MST_PHASE_TOTAL:    return 2;
    default:                 return -1;
    }
}

/* The number of states in the first version of this format, and the room for waits: arrays in the
 * middle of a struct cannot grow. */
#define MST_STATES_FIRST 6u
#define MST_WAITS_ROOM   16u

#endif

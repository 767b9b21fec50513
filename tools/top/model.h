/* model.h - what mpmstat top shows of servers: what their counters did between two snapshots, what
 * their workers do now, and what happened to them.
 *
 * The model knows neither sources nor terminals: it takes snapshots, and the view reads it. Strings
 * are as the board has them, cut to their array, so they can hold any byte.
 */
#ifndef MPMSTAT_TOP_MODEL_H
#define MPMSTAT_TOP_MODEL_H

#include "render/held.h"
#include "segment/parts.h"

#define MST_TOP_EVENTS    100u    /* kept */
#define MST_TOP_TEXT_MAX  160u    /* an event, or why a server cannot be read */
#define MST_TOP_ADDRESS_MAX 128u  /* a path of a Unix socket has at most 108 bytes */

/* How many times, and their sum. */
struct mst_top_times { uint64_t count, sum_ns; };

/* A label with what its counters were. */
struct mst_top_label_counts {
    char                 name[MST_NAME_MAX];
    uint64_t             requests, class_4xx, class_5xx;
    struct mst_top_times total;
    struct mst_histogram histogram;     /* of the total; empty by URL */
};

struct mst_top_end_counts {
    char     kind[16], name[MST_NAME_MAX];
    uint64_t calls, failed, time_ns;
};

/* The counters of a server at one moment. */
struct mst_top_counts {
    uint64_t at_ns;                     /* CLOCK_MONOTONIC; 0: there are none */
    uint64_t requests;                  /* without the status page's own, as all that follows */
    struct mst_top_times phases[MST_PHASE_COUNT];
    struct mst_histogram histogram;     /* of the total */
    uint64_t parts_ns[MST_PART_COUNT];
    uint64_t forks, exits[MST_REASON_COUNT], forks_failed, generations, unfinished, overflows;
    size_t   label_count, label_room;
    struct mst_top_label_counts *labels;
    size_t   end_count, end_room;
    struct mst_top_end_counts *ends;
};

/* Times, and numbers a second, are those of the last interval. */
struct mst_top_label {
    char     name[MST_NAME_MAX];
    uint64_t rate_milli, milli_4xx, milli_5xx;   /* requests a second */
    uint64_t mean_ns, p99_ns;                    /* of a request */
    uint64_t in_flight;                          /* now */
    uint64_t limit, wanted;                      /* of an FPM pool's workers */
};

struct mst_top_end {
    char     kind[16], name[MST_NAME_MAX];
    uint64_t rate_milli, failed_milli;           /* calls a second */
    uint64_t mean_ns, at_once_milli;             /* how many calls were under way, on average */
};

struct mst_top_queue {
    char     address[MST_TOP_ADDRESS_MAX], pool[MST_NAME_MAX];
    uint64_t queue, limit;
};

enum mst_top_life {
    MST_TOP_UNSEEN,      /* not read yet */
    MST_TOP_RUNNING,
    MST_TOP_GONE,        /* its board says so: what is shown is of before */
    MST_TOP_SILENT       /* it cannot be read: what is shown is of before */
};

struct mst_top_server {
    char     name[512];              /* the target's */
    bool     is_url;                 /* its status has no histograms */
    enum mst_top_life life;
    uint64_t since_ns;               /* GONE, SILENT: since 1970; MST_UNKNOWN */
    char     problem[MST_TOP_TEXT_MAX];   /* SILENT: why */

    bool     is_known;               /* it has been read: all below is so */
    bool     is_php;
    char     kind[32];               /* "event", "fpm-fcgi"; "" not known */
    uint64_t pid, started_ns;
    uint64_t limit, busy, wanted, states[MST_STATE_COUNT], connections;
    bool     was_full;               /* all workers were busy */

    uint64_t interval_ns;            /* between the two snapshots; 0: there is one alone */
    uint64_t rate_milli;
    uint64_t mean_ns[MST_PHASE_COUNT], p99_ns;   /* of a request; of its total */
    uint64_t parts_ns[MST_PART_COUNT];           /* summed over the requests; never unknown */
    uint64_t waiting[MST_WAIT_COUNT];   /* workers that wait now */

    size_t label_count, label_room, end_count, end_room, queue_count, queue_room;
    struct mst_top_label *labels;
    struct mst_top_end   *ends;
    struct mst_top_queue *queues;
    struct mst_present    present;      /* its workers that are busy */
    bool   out_of_memory;               /* something is missing above */

    struct mst_top_counts counts[2];    /* the latest is that of `turn` */
    unsigned turn;
};

struct mst_top_event {
    uint64_t wall_ns;
    size_t   server;
    char     text[MST_TOP_TEXT_MAX];
};

struct mst_top {
    size_t server_count;
    struct mst_top_server *servers;
    char   sentence[MST_HELD_MAX];      /* what holds workers now; "": nothing does */
    bool   is_stuck;                    /* says the sentence */
    size_t event_count;
    struct mst_top_event events[MST_TOP_EVENTS];   /* the latest first */
};

/* Room for so many servers, all unseen. False: out of memory. Free it in either case. */
bool mst_top_init(struct mst_top *top, size_t servers);
void mst_top_free(struct mst_top *top);

/* Takes a snapshot of a server. now_ns: CLOCK_MONOTONIC; wall_ns: since 1970. */
void mst_top_take(struct mst_top *top, size_t server, const struct mst_snapshot *board,
                  uint64_t now_ns, uint64_t wall_ns);

/* After a look at all servers: what holds their workers, and Apache's wait where its PHP waits. */
void mst_top_conclude(struct mst_top *top);

/* The server could not be read: what is known of it stays. */
void mst_top_miss(struct mst_top *top, size_t server, const char *problem, uint64_t wall_ns);

#endif

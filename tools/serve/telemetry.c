/* telemetry.c - mpmstat serve --otlp: see telemetry.h. */
#include "serve/telemetry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "export/follow.h"
#include "export/metrics.h"
#include "serve/look.h"

#define POLL_NS    (250 * MST_NS_PER_MS)   /* between two looks at the journals */
#define EXPORT_NS  MST_NS_PER_S            /* between two exports of requests */
#define STOP_NS    (3 * MST_NS_PER_S)      /* for what is left at the end */

/* A request of OTLP that waits for the collector. */
struct body {
    struct body         *next;
    enum mst_post_signal signal;
    size_t               length;
    uint64_t             items;      /* spans; of metrics, 1 */
    char                 json[];
};

/* Of one signal. Spans are counted one by one, metrics as sets. */
struct counts { uint64_t sent, dropped, refused; };

struct mst_telemetry {
    const struct mst_telemetry_options *options;
    char *const     *targets;
    size_t           target_count;
    pthread_t        reader, sender;

    pthread_mutex_t  lock;           /* of all below, but for what one thread alone uses */
    pthread_cond_t   changed;        /* a body waits, or it is to end */
    bool             ends, has_read; /* the reader has ended */
    uint64_t         stop_by_ns;     /* CLOCK_MONOTONIC; the sender's tries end then */
    struct body     *first, *last;   /* spans, the oldest first */
    size_t           waiting_bytes;
    struct body     *metrics;        /* the latest; NULL: they have been sent */
    struct mst_post *fresh;          /* takes the place of the sender's */
    struct counts    counts[MST_POST_SIGNALS];
    uint64_t         requests;       /* that were sent as spans */
    bool             is_answering[MST_POST_SIGNALS];   /* the collector, at the latest try */
    struct mst_follow_counts followed;

    struct mst_follow *follow;       /* the reader's */
    struct mst_post   *post;         /* the sender's */
};

/* ---- the queue ----------------------------------------------------------------------------- */

static struct body *make_body(enum mst_post_signal signal, const char *json, size_t length,
                              uint64_t items)
{
    struct body *b = malloc(sizeof *b + length);

    if (b == NULL)
        return NULL;
    *b = (struct body){ .signal = signal, .length = length, .items = items };
    memcpy(b->json, json, length);
    return b;
}

/* Takes the oldest spans out of the queue; NULL: there are none. Precondition: the lock is held. */
static struct body *take_spans(struct mst_telemetry *t)
{
    struct body *b = t->first;

    if (b == NULL)
        return NULL;
    t->first = b->next;
    if (t->first == NULL)
        t->last = NULL;
    t->waiting_bytes -= b->length;
    return b;
}

/* A mst_export_send. */
static int queue_spans(void *telemetry, const struct mst_export_batch *batch,
                       char error[MST_ERROR_MAX])
{
    struct mst_telemetry *t = telemetry;
    struct body *b = make_body(MST_POST_TRACES, batch->json, batch->length, batch->spans), *oldest;

    if (b == NULL)
        return mst_fail(error, "out of memory for the spans");
    pthread_mutex_lock(&t->lock);
    while (t->waiting_bytes + b->length > MST_TELEMETRY_QUEUE_BYTES &&
           (oldest = take_spans(t)) != NULL) {
        t->counts[MST_POST_TRACES].dropped += oldest->items;
        free(oldest);
    }
    if (t->last != NULL)
        t->last->next = b;
    else
        t->first = b;
    t->last = b;
    t->waiting_bytes += b->length;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return 0;
}

/* Takes the place of those that have not been sent. */
static void queue_metrics(struct mst_telemetry *t, struct body *b)
{
    pthread_mutex_lock(&t->lock);
    t->counts[MST_POST_METRICS].dropped += t->metrics != NULL || b == NULL;
    if (b != NULL) {
        free(t->metrics);
        t->metrics = b;
    }
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Waits until then (CLOCK_MONOTONIC), or until something has changed. Precondition: the lock is
 * held. */
static void wait_until(struct mst_telemetry *t, uint64_t until_ns)
{
    const struct timespec until = {
        .tv_sec = (time_t)(until_ns / MST_NS_PER_S), .tv_nsec = (long)(until_ns % MST_NS_PER_S),
    };

    pthread_cond_clockwait(&t->changed, &t->lock, CLOCK_MONOTONIC, &until);
}

/* ---- the reader ---------------------------------------------------------------------------- */

static void make_metrics(struct mst_telemetry *t)
{
    struct mst_own_metric own[MST_TELEMETRY_METRICS];
    struct mst_answer_text text = { 0 };
    struct mst_look look = { 0 };
    char error[MST_ERROR_MAX];
    struct mst_shown shown = { .own = own, .own_count = mst_telemetry_metrics(t, own) };
    const struct mst_export_metrics metrics = {
        .shown = &shown, .service = t->options->service, .host = t->options->host,
        .now_ns = mst_realtime_ns(),
    };
    const struct mst_snapshot **boards;
    struct mst_sink sink;
    struct body *b = NULL;

    mst_look_at(&look, t->targets, t->target_count, false, error);   /* without boards: its own */
    boards = mst_answer_order(&look.answer);
    shown.boards = boards;
    shown.count = look.answer.count;
    mst_sink_init(&sink, mst_answer_write, &text);
    if (boards != NULL && mst_export_metrics(&sink, &metrics) == 0)
        b = make_body(MST_POST_METRICS, text.bytes, text.used, 1);
    queue_metrics(t, b);
    free(boards);
    free(text.bytes);
    mst_look_free(&look);
}

static void export_requests(struct mst_telemetry *t, bool at_end)
{
    struct mst_export e = {
        .service = t->options->service, .host = t->options->host, .send = queue_spans,
        .context = t,
    };

    mst_follow_export(t->follow, &e, at_end);
    pthread_mutex_lock(&t->lock);
    t->followed = mst_follow_counts(t->follow);
    pthread_mutex_unlock(&t->lock);
}

static void *read_boards(void *telemetry)
{
    struct mst_telemetry *t = telemetry;
    uint64_t now_ns = mst_now_ns(), exported_ns = now_ns, metrics_ns = 0;
    bool ends = false;

    mst_follow_poll(t->follow);   /* which boards there are already */
    while (!ends) {
        pthread_mutex_lock(&t->lock);
        for (now_ns += POLL_NS; !t->ends && mst_now_ns() < now_ns;)
            wait_until(t, now_ns);
        ends = t->ends;
        pthread_mutex_unlock(&t->lock);
        now_ns = mst_now_ns();
        mst_follow_poll(t->follow);
        if (ends || mst_elapsed(exported_ns, now_ns) >= EXPORT_NS) {
            export_requests(t, ends);
            exported_ns = now_ns;
        }
        if (ends || mst_elapsed(metrics_ns, now_ns) >= t->options->interval_ns) {
            make_metrics(t);
            metrics_ns = now_ns;
        }
    }
    pthread_mutex_lock(&t->lock);
    t->has_read = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- the sender ---------------------------------------------------------------------------- */

/* A try that is under way ends with the time for the end. */
static bool is_over(void *telemetry)
{
    struct mst_telemetry *t = telemetry;
    bool over;

    pthread_mutex_lock(&t->lock);
    over = t->ends && mst_now_ns() >= t->stop_by_ns;
    pthread_mutex_unlock(&t->lock);
    return over;
}

/* What is to be sent next; NULL: nothing any more. Precondition: the lock is held. */
static struct body *await_body(struct mst_telemetry *t)
{
    struct body *b;

    for (;;) {
        b = t->metrics;
        t->metrics = NULL;
        if (b == NULL)
            b = take_spans(t);
        if (b != NULL || t->has_read)
            return b;
        pthread_cond_wait(&t->changed, &t->lock);
    }
}

/* Counts what became of a body, and forgets it. Precondition: the lock is held. */
static void settle_body(struct mst_telemetry *t, struct body *b, enum mst_post_result result,
                        uint64_t refused)
{
    struct counts *c = &t->counts[b->signal];

    if (result == MST_POST_TAKEN) {
        c->sent += b->signal == MST_POST_TRACES ? mst_subtract_saturated(b->items, refused)
                                                : b->items;
        c->refused += refused;
    } else if (result == MST_POST_REFUSED) {
        c->refused += b->items;
    } else {
        c->dropped += b->items;
    }
    free(b);
}

/* Takes newer metrics instead, and other settings. Precondition: the lock is held. */
static void renew(struct mst_telemetry *t, struct body **b)
{
    if (t->fresh != NULL) {
        mst_post_close(t->post);
        t->post = t->fresh;
        t->fresh = NULL;
    }
    if ((*b)->signal == MST_POST_METRICS && t->metrics != NULL) {
        settle_body(t, *b, MST_POST_LATER, 0);
        *b = t->metrics;
        t->metrics = NULL;
    }
}

/* Sends a body, and tries again while the collector is busy or away. Precondition: the lock is
 * held; it is not during a try. */
static void send_body(struct mst_telemetry *t, struct body *b)
{
    enum mst_post_result result;
    char error[MST_ERROR_MAX];
    uint64_t before, refused, again_ns;
    unsigned tries = 0;
    const char *why;
    bool is_last;

    do {
        is_last = t->ends;
        renew(t, &b);
        pthread_mutex_unlock(&t->lock);
        before = mst_post_refused(t->post, &why);
        result = mst_post_try(t->post, b->signal, b->json, b->length, error);
        refused = mst_post_refused(t->post, &why) - before;
        pthread_mutex_lock(&t->lock);
        t->is_answering[b->signal] = result != MST_POST_LATER;
        again_ns = mst_now_ns() + mst_post_pause_s(t->post, ++tries) * MST_NS_PER_S;
        while (result == MST_POST_LATER && !t->ends && mst_now_ns() < again_ns)
            wait_until(t, again_ns);
    } while (result == MST_POST_LATER && !is_last);
    settle_body(t, b, result, refused);
}

static void *send_bodies(void *telemetry)
{
    struct mst_telemetry *t = telemetry;
    struct body *b;

    pthread_mutex_lock(&t->lock);
    while ((b = await_body(t)) != NULL)
        send_body(t, b);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- metrics of its own -------------------------------------------------------------------- */

size_t mst_telemetry_metrics(struct mst_telemetry *t,
                             struct mst_own_metric metrics[MST_TELEMETRY_METRICS])
{
    static const struct { const char *family, *help; } families[] = {
        { "mpmstat_otlp_sent", "Spans, and sets of metrics, that the collector has taken" },
        { "mpmstat_otlp_refused", "Spans, and sets of metrics, that the collector does not want" },
        { "mpmstat_otlp_dropped", "Spans, and sets of metrics, that were not sent: the collector "
          "was away or too slow" },
    };
    static const char *const reasons[] = { "overwritten", "full" };
    size_t count = 0, i;
    int signal;

    if (t == NULL)
        return 0;
    pthread_mutex_lock(&t->lock);
    for (i = 0; i < sizeof families / sizeof *families; i++)
        for (signal = 0; signal < MST_POST_SIGNALS; signal++) {
            const struct counts *c = &t->counts[signal];
            const uint64_t numbers[] = { c->sent, c->refused, c->dropped };

            metrics[count++] = (struct mst_own_metric){
                families[i].family, families[i].help, false, "signal",
                mst_post_signal_names[signal], numbers[i],
            };
        }
    for (signal = 0; signal < MST_POST_SIGNALS; signal++)
        metrics[count++] = (struct mst_own_metric){
            "mpmstat_otlp_up", "Whether the collector answered the latest time", true, "signal",
            mst_post_signal_names[signal], t->is_answering[signal],
        };
    for (i = 0; i < sizeof reasons / sizeof *reasons; i++)
        metrics[count++] = (struct mst_own_metric){
            "mpmstat_otlp_requests_missed", "Requests that are not among the spans: their records "
            "were overwritten before they were read, or there was no room for them", false,
            "reason", reasons[i], i == 0 ? t->followed.lost : t->followed.dropped,
        };
    metrics[count++] = (struct mst_own_metric){
        "mpmstat_otlp_queue_bytes", "Spans that wait for the collector", true, "signal",
        mst_post_signal_names[MST_POST_TRACES], t->waiting_bytes,
    };
    pthread_mutex_unlock(&t->lock);
    return count;
}

/* ---- start and stop ------------------------------------------------------------------------ */

static struct mst_post *open_post(struct mst_telemetry *t, char error[MST_ERROR_MAX])
{
    struct mst_post *post = mst_post_open(&t->options->post, error);

    if (post != NULL)
        mst_post_set_stop(post, is_over, t);
    return post;
}

static void free_telemetry(struct mst_telemetry *t)
{
    struct body *b;

    while ((b = take_spans(t)) != NULL)
        free(b);
    free(t->metrics);
    mst_post_close(t->fresh);
    mst_post_close(t->post);
    mst_follow_close(t->follow);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void end_threads(struct mst_telemetry *t, bool has_sender)
{
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    t->stop_by_ns = mst_now_ns() + STOP_NS;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->reader, NULL);
    if (has_sender)
        pthread_join(t->sender, NULL);
}

struct mst_telemetry *mst_telemetry_start(const struct mst_telemetry_options *options,
                                          char *const *targets, size_t target_count,
                                          char error[MST_ERROR_MAX])
{
    struct mst_telemetry *t = calloc(1, sizeof *t);

    if (t == NULL) {
        mst_fail(error, "out of memory");
        return NULL;
    }
    *t = (struct mst_telemetry){
        .options = options, .targets = targets, .target_count = target_count,
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
        .is_answering = { true, true },
    };
    t->follow = mst_follow_open(targets, target_count, &options->choice);
    t->post = open_post(t, error);
    if (t->follow == NULL || t->post == NULL) {
        if (t->follow == NULL)
            mst_fail(error, "out of memory");
    } else if (pthread_create(&t->reader, NULL, read_boards, t) != 0) {
        mst_fail(error, "a thread cannot be started");
    } else if (pthread_create(&t->sender, NULL, send_bodies, t) != 0) {
        end_threads(t, false);
        mst_fail(error, "a thread cannot be started");
    } else {
        return t;
    }
    free_telemetry(t);
    return NULL;
}

int mst_telemetry_reload(struct mst_telemetry *t, char error[MST_ERROR_MAX])
{
    struct mst_post *post = open_post(t, error);

    if (post == NULL)
        return -1;
    pthread_mutex_lock(&t->lock);
    mst_post_close(t->fresh);
    t->fresh = post;
    pthread_mutex_unlock(&t->lock);
    return 0;
}

void mst_telemetry_stop(struct mst_telemetry *t)
{
    if (t == NULL)
        return;
    end_threads(t, true);
    free_telemetry(t);
}

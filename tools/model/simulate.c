/* simulate.c - see simulate.h. One event after the other, in the order of simulated time. */
#include "model/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "memory/pool.h"
#include "model/event_queue.h"
#include "stats/random.h"

#define NOBODY          UINT32_MAX
#define IN_FLIGHT_MOST  200000u   /* of a load that comes by itself: more never come to an answer */
#define PILED_UP_MILLI  970u      /* fewer answers than that of the arrivals: they pile up */
#define RETRY_TIMES_MOST 6u       /* 1, 2, ... 32 s: Linux doubles the time after each SYN */
#define GROWTH_SECONDS  1.0       /* both servers look once a second */

/* What is due, of whom. */
enum due {
    DUE_ARRIVAL,    /* nobody: the next request comes by itself */
    DUE_SEND,       /* a request: its client sends it */
    DUE_NEXT,       /* a request: its step is done */
    DUE_AGAIN,      /* a request: it tries the gate again */
    DUE_IDLE_END,   /* a request: the server ends its idle connection */
    DUE_GROWTH      /* a gate: its server looks whether to start processes */
};

/* A request under way, and of a closed load its client. */
struct request {
    double   sent, left_front;
    size_t   step, end;       /* of the system's steps */
    uint32_t behind;          /* who waits behind it at a gate, or is free as well; NOBODY */
    uint32_t left;            /* requests that follow on its connection */
    uint32_t front;           /* the server that it goes to */
    uint8_t  tries;
    bool     keeps;           /* its connection keeps a worker of its front's gate */
};

struct gate {
    uint32_t inside, open, waiting;
    uint32_t first, last;     /* who waits */
    uint32_t processes;       /* that are started in the next second */
    double   since;           /* the integrals are up to here */
    struct mst_gate_use sum;  /* integrals over time */
};

struct cpus {
    struct mst_event_queue jobs;   /* by the work after which each is done */
    double done, since;       /* work that each job would have got until `since` */
    double used, took;        /* integrals: the CPU time, and the time that it took */
};

struct state {
    const struct mst_system *system;
    const struct mst_simulation *how;
    struct mst_event_queue due;
    struct request *requests;
    size_t   count, room;
    uint32_t free_one;
    uint32_t in_flight;
    struct gate *gates;
    struct cpus *cpus;
    double  *at_ends;         /* integrals */
    double   now, gap_scale;
    size_t   next_gap, next_turn;
    uint64_t random, answered, arrived;
    bool     counting, overloaded;
    struct mst_simulated_times all, *fronts;   /* mean: the sum; fronts NULL: there is one */
};

/* ---- random numbers ---------------------------------------------------------------- */

static double random_part(struct state *s)
{
    return (double)(mst_random_word(&s->random) >> 11) * 0x1p-53;
}

static double random_time(struct state *s, double mean)
{
    return mean > 0 ? -mean * log1p(-random_part(s)) : 0;
}

static void is_due(struct state *s, double after, enum due what, uint32_t who)
{
    mst_event_add(&s->due, (struct mst_event){ s->now + after, (uint32_t)what, who });
}

/* ---- gates ------------------------------------------------------------------------- */

static void integrate(struct state *s, struct gate *g)
{
    double passed = s->now - g->since;

    g->sum.inside += passed * g->inside;
    g->sum.waiting += passed * g->waiting;
    if (g->inside >= g->open)
        g->sum.full += passed;
    g->since = s->now;
}

static void count_in(struct gate *g)
{
    g->inside++;
    if (g->inside > g->sum.most)
        g->sum.most = g->inside;
}

static void let_in(struct state *s, struct gate *g)
{
    while (g->waiting > 0 && g->inside < g->open) {
        uint32_t who = g->first;

        g->first = s->requests[who].behind;
        g->waiting--;
        count_in(g);
        is_due(s, 0, DUE_NEXT, who);
    }
}

static void leave(struct state *s, struct gate *g)
{
    integrate(s, g);
    g->inside--;
    let_in(s, g);
}

static bool is_front_gate(const struct state *s, const struct request *r, uint32_t at)
{
    return at == s->system->fronts[r->front].gate;
}

/* Whether the request is inside at once. */
static bool enter(struct state *s, uint32_t at, uint32_t who)
{
    struct gate *g = &s->gates[at];
    struct request *r = &s->requests[who];
    uint32_t backlog = s->system->gates[at].backlog;

    if (is_front_gate(s, r, at) && r->keeps) {
        r->keeps = false;
        return true;
    }
    integrate(s, g);
    if (g->waiting == 0 && g->inside < g->open) {
        count_in(g);
        return true;
    }
    if (backlog > 0 && g->waiting >= backlog) {
        g->sum.retries++;
        is_due(s, ldexp(1, r->tries), DUE_AGAIN, who);
        r->tries += r->tries < RETRY_TIMES_MOST - 1;
        return false;
    }
    r->behind = NOBODY;
    if (g->waiting++ == 0)
        g->first = who;
    else
        s->requests[g->last].behind = who;
    g->last = who;
    return false;
}

/* Once a second: starts processes while few workers are idle, ends one while many are. */
static void grow(struct state *s, uint32_t at)
{
    const struct mst_gate *of = &s->system->gates[at];
    struct gate *g = &s->gates[at];
    uint32_t idle = g->open > g->inside ? g->open - g->inside : 0, more;

    integrate(s, g);
    if (idle < of->growth.min_spare && g->open < of->limit) {
        more = g->processes * of->growth.unit;
        if (of->growth.missing && more > of->growth.min_spare - idle)
            more = of->growth.min_spare - idle;
        g->open = of->limit - g->open < more ? of->limit : g->open + more;
        g->processes = 2 * g->processes < of->growth.most ? 2 * g->processes : of->growth.most;
        let_in(s, g);
    } else {
        g->processes = 1;
        if (idle > of->growth.max_spare && idle >= of->growth.unit)
            g->open -= of->growth.unit;
    }
    is_due(s, GROWTH_SECONDS, DUE_GROWTH, at);
}

/* ---- CPUs -------------------------------------------------------------------------- */

/* The part of a CPU that each job has. */
static double speed(const struct state *s, size_t i)
{
    double jobs = (double)s->cpus[i].jobs.count, count = s->system->cpus[i].count;

    return jobs > count ? count / jobs : 1;
}

static void compute_until_now(struct state *s, size_t i)
{
    struct cpus *c = &s->cpus[i];
    double each = speed(s, i) * (s->now - c->since);

    c->done += each;
    c->used += each * (double)c->jobs.count;
    c->took += (s->now - c->since) * (double)c->jobs.count;
    c->since = s->now;
}

static void compute(struct state *s, uint32_t at, double seconds, uint32_t who)
{
    compute_until_now(s, at);
    mst_event_add(&s->cpus[at].jobs,
                  (struct mst_event){ s->cpus[at].done + seconds, DUE_NEXT, who });
}

/* When the next job of these CPUs is done. */
static double computed_at(const struct state *s, size_t i)
{
    const struct cpus *c = &s->cpus[i];

    if (c->jobs.count == 0)
        return INFINITY;
    return c->since + fmax(c->jobs.items[0].at - c->done, 0) / speed(s, i);
}

/* ---- requests ---------------------------------------------------------------------- */

static uint32_t new_request(struct state *s)
{
    uint32_t who = s->free_one;

    if (who != NOBODY) {
        s->free_one = s->requests[who].behind;
    } else {
        if (!mst_grow(&s->requests, &s->room, s->count, sizeof *s->requests))
            mst_out_of_memory();
        who = (uint32_t)s->count++;
    }
    s->requests[who] = (struct request){ .behind = NOBODY };
    return who;
}

/* One of the front's. */
static const struct mst_work *draw(struct state *s, const struct mst_front *front)
{
    size_t i = front->first_work + mst_random_below(&s->random, front->work_count);

    return &s->system->works[s->how->drawn != NULL ? s->how->drawn[i] : i];
}

static uint32_t next_front(struct state *s)
{
    const struct mst_model_load *load = &s->system->load;
    uint32_t front;

    if (load->turn_count == 0)
        return 0;
    front = load->turns[s->next_turn];
    s->next_turn = (s->next_turn + 1) % load->turn_count;
    return front;
}

static void count(struct mst_simulated_times *t, double took)
{
    t->requests++;
    t->mean += took;
    if (mst_values_add(&t->times, (uint64_t)(took * (double)MST_NS_PER_S + 0.5)) != 0)
        mst_out_of_memory();
}

/* The client has the answer. */
static void answered(struct state *s, uint32_t who)
{
    const struct mst_model_load *load = &s->system->load;
    struct request *r = &s->requests[who];
    double think;

    s->answered++;
    if (s->counting) {
        count(&s->all, (s->how->at_front ? r->left_front : s->now) - r->sent);
        if (s->fronts != NULL)
            count(&s->fronts[r->front], r->left_front - r->sent);
    }
    if (load->arrivals != MST_ARRIVALS_CLOSED) {
        r->behind = s->free_one;
        s->free_one = who;
        s->in_flight--;
        return;
    }
    think = random_time(s, load->think);
    if (r->keeps && think > load->keepalive_timeout)
        is_due(s, load->keepalive_timeout, DUE_IDLE_END, who);
    is_due(s, think, DUE_SEND, who);
}

/* Whether the connection keeps its worker until the next request. */
static bool keeps_worker(struct state *s, struct request *r)
{
    const struct mst_model_load *load = &s->system->load;

    if (load->arrivals != MST_ARRIVALS_CLOSED || load->keepalive_timeout <= 0)
        return false;
    if (r->left == 0)
        r->left = (uint32_t)fmax(load->requests_a_connection + random_part(s), 1);
    r->keeps = --r->left > 0;
    return r->keeps;
}

/* Goes on with the request, up to a step that takes time. */
static void go_on(struct state *s, uint32_t who)
{
    double seconds;
    bool at_front;

    for (; s->requests[who].step < s->requests[who].end; s->requests[who].step++) {
        const struct mst_model_step *step = &s->system->steps[s->requests[who].step];

        switch (step->kind) {
        case MST_STEP_ENTER:
            if (!enter(s, step->at, who))
                return;
            break;
        case MST_STEP_LEAVE:
            at_front = is_front_gate(s, &s->requests[who], step->at);
            if (at_front)
                s->requests[who].left_front = s->now;
            if (!at_front || !keeps_worker(s, &s->requests[who]))
                leave(s, &s->gates[step->at]);
            break;
        case MST_STEP_COMPUTE:
            seconds = step->seconds * s->system->ends[step->end].compute_factor;
            if (seconds > 0) {
                compute(s, step->at, seconds, who);
                return;
            }
            break;
        case MST_STEP_WAIT:
            seconds = fmax(step->seconds - s->system->ends[step->end].shorter, 0) *
                      s->system->ends[step->end].wait_factor;
            if (seconds > 0) {
                s->at_ends[step->end] += seconds;
                is_due(s, seconds, DUE_NEXT, who);
                return;
            }
            break;
        }
    }
    answered(s, who);
}

static void send_request(struct state *s, uint32_t who)
{
    struct request *r = &s->requests[who];
    const struct mst_work *work;

    r->front = next_front(s);
    work = draw(s, &s->system->fronts[r->front]);
    r->sent = r->left_front = s->now;
    r->step = work->first;
    r->end = work->first + work->count;
    r->tries = 0;
    go_on(s, who);
}

static void arrive(struct state *s)
{
    const struct mst_model_load *load = &s->system->load;
    double gap;

    if (load->arrivals == MST_ARRIVALS_RANDOM) {
        gap = random_time(s, 1 / load->rate);
    } else {
        gap = load->gaps[s->next_gap] * s->gap_scale;
        s->next_gap = (s->next_gap + 1) % load->gap_count;
    }
    is_due(s, gap, DUE_ARRIVAL, NOBODY);
    s->arrived++;
    if (++s->in_flight > IN_FLIGHT_MOST)
        s->overloaded = true;
    send_request(s, new_request(s));
}

static void happen(struct state *s, struct mst_event event)
{
    uint32_t who = event.who;

    switch ((enum due)event.what) {
    case DUE_ARRIVAL: arrive(s); break;
    case DUE_SEND: send_request(s, who); break;
    case DUE_NEXT:
        s->requests[who].step++;
        go_on(s, who);
        break;
    case DUE_AGAIN: go_on(s, who); break;
    case DUE_IDLE_END:
        s->requests[who].keeps = false;
        s->requests[who].left = 0;
        leave(s, &s->gates[s->system->fronts[s->requests[who].front].gate]);
        break;
    case DUE_GROWTH: grow(s, who); break;
    }
}

/* ---- all of it --------------------------------------------------------------------- */

static void begin(struct state *s)
{
    const struct mst_model_load *load = &s->system->load;
    uint32_t i;
    double span = 0;
    size_t k;

    if (load->turn_count > 0)
        s->next_turn = mst_random_below(&s->random, load->turn_count);
    for (i = 0; i < s->system->gate_count; i++) {
        const struct mst_gate *of = &s->system->gates[i];

        s->gates[i].open = of->growth.start > 0 && of->growth.start < of->limit ? of->growth.start
                                                                                : of->limit;
        s->gates[i].processes = 1;
        if (of->growth.start > 0)
            is_due(s, GROWTH_SECONDS * random_part(s), DUE_GROWTH, i);
    }
    if (load->arrivals == MST_ARRIVALS_CLOSED) {
        for (i = 0; i < load->clients; i++)
            is_due(s, random_time(s, load->think), DUE_SEND, new_request(s));
        return;
    }
    for (k = 0; load->arrivals == MST_ARRIVALS_RECORDED && k < load->gap_count; k++)
        span += load->gaps[k];
    s->gap_scale = span > 0 ? (double)load->gap_count / load->rate / span : 0;
    s->next_gap = load->gap_count > 0 ? mst_random_below(&s->random, load->gap_count) : 0;
    s->next_turn = load->arrivals == MST_ARRIVALS_RECORDED ? s->next_gap : s->next_turn;
    is_due(s, 0, DUE_ARRIVAL, NOBODY);
}

static void begin_counting(struct state *s)
{
    size_t i;

    s->counting = true;
    s->arrived = 0;
    for (i = 0; i < s->system->gate_count; i++) {
        integrate(s, &s->gates[i]);
        s->gates[i].sum = (struct mst_gate_use){ .most = s->gates[i].inside };
    }
    for (i = 0; i < s->system->cpus_count; i++) {
        compute_until_now(s, i);
        s->cpus[i].used = s->cpus[i].took = 0;
    }
    for (i = 0; i < s->system->end_count; i++)
        s->at_ends[i] = 0;
}

static void run(struct state *s)
{
    double end = s->how->warm_up + s->how->seconds, at;
    size_t i, first;

    while (!s->overloaded && s->answered < s->how->most_requests) {
        at = s->due.count > 0 ? s->due.items[0].at : INFINITY;
        first = s->system->cpus_count;
        for (i = 0; i < s->system->cpus_count; i++)
            if (computed_at(s, i) < at) {
                at = computed_at(s, i);
                first = i;
            }
        if (!s->counting && at >= s->how->warm_up) {
            s->now = s->how->warm_up;
            begin_counting(s);
        }
        if (at > end)
            break;
        s->now = at;
        if (first < s->system->cpus_count) {
            compute_until_now(s, first);
            happen(s, mst_event_take(&s->cpus[first].jobs));
        } else {
            happen(s, mst_event_take(&s->due));
        }
    }
    if (s->now < end && !s->overloaded && s->answered < s->how->most_requests)
        s->now = end;
}

static struct mst_simulated_times mean_of(struct mst_simulated_times t, double part)
{
    t.rate = (double)t.requests * part;
    t.mean = t.requests > 0 ? t.mean / (double)t.requests : 0;
    mst_values_sort(&t.times);
    return t;
}

static void add_up(struct mst_simulated *r, struct state *s, apr_pool_t *pool)
{
    double seconds = s->counting ? s->now - s->how->warm_up : 0;
    double part = seconds > 0 ? 1 / seconds : 0;
    size_t i;

    r->seconds = seconds;
    r->all = mean_of(s->all, part);
    r->fronts = s->fronts;
    r->front_count = s->fronts != NULL ? s->system->front_count : 0;
    for (i = 0; i < r->front_count; i++)
        r->fronts[i] = mean_of(s->fronts[i], part);
    r->gates = apr_pcalloc(pool, s->system->gate_count * sizeof *r->gates);
    r->cpu_used = apr_pcalloc(pool, s->system->cpus_count * sizeof *r->cpu_used);
    r->cpu_stretch = apr_pcalloc(pool, s->system->cpus_count * sizeof *r->cpu_stretch);
    r->at_ends = apr_pcalloc(pool, s->system->end_count * sizeof *r->at_ends);
    for (i = 0; i < s->system->gate_count; i++) {
        integrate(s, &s->gates[i]);
        r->gates[i] = s->gates[i].sum;
        r->gates[i].inside *= part;
        r->gates[i].waiting *= part;
        r->gates[i].full *= part;
    }
    for (i = 0; i < s->system->cpus_count; i++) {
        compute_until_now(s, i);
        r->cpu_used[i] = s->cpus[i].used * part;
        r->cpu_stretch[i] = s->cpus[i].used > 0 ? s->cpus[i].took / s->cpus[i].used : 1;
    }
    for (i = 0; i < s->system->end_count; i++)
        r->at_ends[i] = s->at_ends[i] * part;
    r->overloaded = s->overloaded ||
        (s->system->load.arrivals != MST_ARRIVALS_CLOSED && s->in_flight > 100 &&
         (double)s->all.requests * 1000 < (double)s->arrived * PILED_UP_MILLI);
}

void mst_simulate(struct mst_simulated *result, const struct mst_system *system,
                  const struct mst_simulation *how, apr_pool_t *pool)
{
    struct state s = { .system = system, .how = how, .random = how->seed, .free_one = NOBODY };
    size_t i;

    s.gates = apr_pcalloc(pool, system->gate_count * sizeof *s.gates);
    s.cpus = apr_pcalloc(pool, system->cpus_count * sizeof *s.cpus);
    s.at_ends = apr_pcalloc(pool, system->end_count * sizeof *s.at_ends);
    if (system->front_count > 1)
        s.fronts = apr_pcalloc(pool, system->front_count * sizeof *s.fronts);
    begin(&s);
    run(&s);
    add_up(result, &s, pool);
    for (i = 0; i < system->cpus_count; i++)
        free(s.cpus[i].jobs.items);
    free(s.due.items);
    free(s.requests);
}

void mst_simulated_free(struct mst_simulated *result)
{
    size_t i;

    free(result->all.times.items);
    for (i = 0; i < result->front_count; i++)
        free(result->fronts[i].times.items);
}

/* parts.c - where a request's time went: see parts.h. */
#include "report/parts.h"

#include "segment/fields.h"

struct list { struct mst_part *parts; size_t count; bool intervals; };

static void add(struct list *to, const char *name, const char *label,
                const struct mst_summary_times *times)
{
    to->parts[to->count++] = (struct mst_part){ name, label, times };
}

/* Returns whether there is much of it. */
static bool add_interval(struct list *to, const struct mst_summary_server *s,
                         enum mst_interval interval, const char *label)
{
    if (!to->intervals || !mst_summary_has_interval(s, interval))
        return false;
    add(to, mst_interval_names[interval], label, &s->intervals[interval].times);
    return true;
}

static void add_handle(struct list *to, const struct mst_summary_server *s)
{
    bool split = add_interval(to, s, MST_INTERVAL_CHECKS, "handle: checks");

    split = add_interval(to, s, MST_INTERVAL_UPLOAD, "handle: upload") || split;
    if (s->php.joined > 0) {
        add(to, "php_wait", "handle: waiting for PHP", &s->php.handle_wait);
        add(to, "php_run", "handle: PHP runs", &s->php.handle_run);
        add(to, "handle", "handle: the rest", split ? &s->php.handle_rest : &s->php.handle_other);
        return;
    }
    split = add_interval(to, s, MST_INTERVAL_BACKEND, "handle: waiting for a backend") || split;
    if (split)
        add(to, "handle", "handle: the rest", &s->handle_rest);
    else
        add(to, "handle", "handle", &s->phases[MST_PHASE_HANDLE]);
}

static void add_send(struct list *to, const struct mst_summary_server *s)
{
    bool split;

    if (s->php.joined > 0) {
        add(to, "send_php", "send: PHP still runs", &s->php.send_run);
        add(to, "send", "send: the rest", &s->php.send_other);
        return;
    }
    split = add_interval(to, s, MST_INTERVAL_SEND_CLIENT, "send: the client");
    split = add_interval(to, s, MST_INTERVAL_SEND_NETWORK, "send: the network") || split;
    split = add_interval(to, s, MST_INTERVAL_SEND_SERVER, "send: the server") || split;
    if (split)
        add(to, "send", "send: the rest", &s->send_rest);
    else
        add(to, "send", "send", &s->phases[MST_PHASE_SEND]);
}

size_t mst_parts_of(const struct mst_summary_server *s, bool intervals,
                    struct mst_part parts[MST_PARTS_MAX])
{
    const struct mst_summary_times *p = s->phases;
    struct list list = { parts, 0, intervals };

    if (mst_summary_is_php(s)) {
        add(&list, "php_wait", "waiting for PHP", &p[MST_PHASE_PHP_WAIT]);
        add(&list, "php_run", "PHP runs", &p[MST_PHASE_PHP_RUN]);
        return list.count;
    }
    add(&list, "queue", "queue", &p[MST_PHASE_QUEUE]);
    add(&list, "read", "read", &p[MST_PHASE_READ]);
    add_handle(&list, s);
    add_send(&list, s);
    return list.count;
}

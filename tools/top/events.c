/* events.c - what happened to servers, as their counters tell it. */
#include "top/events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mst_top_event(struct mst_top *top, size_t server, uint64_t wall_ns, const char *format, ...)
{
    struct mst_top_event *event = &top->events[0];
    va_list arguments;

    if (top->event_count < MST_TOP_EVENTS)
        top->event_count++;
    memmove(event + 1, event, (top->event_count - 1) * sizeof *event);
    event->wall_ns = wall_ns;
    event->server = server;
    va_start(arguments, format);
    vsnprintf(event->text, sizeof event->text, format, arguments);
    va_end(arguments);
}

/* Where something was added, and how much that was is known. */
static bool was_added(uint64_t before, uint64_t now, uint64_t *added)
{
    *added = mst_top_added(before, now);
    return *added != MST_UNKNOWN && *added > 0;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void tell_processes(struct mst_top *top, size_t server, const struct mst_top_counts *before,
                           const struct mst_top_counts *now, uint64_t wall_ns)
{
    static const char *const how[MST_REASON_COUNT] = {
        "ended", "ended by a signal", "killed", "ended for an unknown reason",
    };
    char text[MST_TOP_TEXT_MAX] = "";
    size_t used = 0;
    uint64_t n;
    unsigned i;

    if (was_added(before->forks, now->forks, &n))
        used = (size_t)snprintf(text, sizeof text, "%" PRIu64 " process%s started", n,
                                n == 1 ? "" : "es");
    for (i = 0; i < MST_REASON_COUNT && used < sizeof text; i++)
        if (was_added(before->exits[i], now->exits[i], &n))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 " %s",
                                     used > 0 ? ", " : "", n, how[i]);
    if (used > 0)
        mst_top_event(top, server, wall_ns, "%s", text);
}

void mst_top_compare(struct mst_top *top, size_t server, const struct mst_top_counts *before,
                     const struct mst_top_counts *now, uint64_t wall_ns)
{
    uint64_t n;

    if (was_added(before->generations, now->generations, &n))
        mst_top_event(top, server, wall_ns, "restarted: generation %" PRIu64, now->generations);
    tell_processes(top, server, before, now, wall_ns);
    if (was_added(before->forks_failed, now->forks_failed, &n))
        mst_top_event(top, server, wall_ns, "the system refused %" PRIu64 " fork%s", n, plural(n));
    if (was_added(before->unfinished, now->unfinished, &n))
        mst_top_event(top, server, wall_ns, "%" PRIu64 " request%s ended with a process", n,
                      plural(n));
    if (was_added(before->overflows, now->overflows, &n))
        mst_top_event(top, server, wall_ns, "%" PRIu64 " connection%s found a full accept queue "
                      "on this machine", n, plural(n));
}

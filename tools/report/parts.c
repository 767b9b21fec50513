/* parts.c - where a request's time went: see parts.h. */
#include "report/parts.h"

#include <string.h>

size_t mst_parts_of(const struct mst_summary_server *s, struct mst_part parts[MST_PARTS_MAX])
{
    const struct mst_summary_times *p = s->phases;
    const struct mst_part plain[] = {
        { "queue", "queue", &p[MST_PHASE_QUEUE] }, { "read", "read", &p[MST_PHASE_READ] },
        { "handle", "handle", &p[MST_PHASE_HANDLE] }, { "send", "send", &p[MST_PHASE_SEND] },
    }, with_php[] = {
        plain[0], plain[1],
        { "php_wait", "handle: waiting for PHP", &s->php.handle_wait },
        { "php_run", "handle: PHP runs", &s->php.handle_run },
        { "handle", "handle: the rest", &s->php.handle_other },
        { "send_php", "send: PHP still runs", &s->php.send_run },
        { "send", "send: the rest", &s->php.send_other },
    }, of_php[] = {
        { "php_wait", "waiting for PHP", &p[MST_PHASE_PHP_WAIT] },
        { "php_run", "PHP runs", &p[MST_PHASE_PHP_RUN] },
    };

    if (mst_summary_is_php(s)) {
        memcpy(parts, of_php, sizeof of_php);
        return sizeof of_php / sizeof *of_php;
    }
    if (s->php.joined > 0) {
        memcpy(parts, with_php, sizeof with_php);
        return sizeof with_php / sizeof *with_php;
    }
    memcpy(parts, plain, sizeof plain);
    return sizeof plain / sizeof *plain;
}

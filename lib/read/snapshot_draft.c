/* snapshot_draft.c - decides which processes of a copied board are alive and until when their
 * times run; keeps texts in the snapshot. See snapshot_draft.h. */
#include "read/snapshot_draft.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "segment/liveness.h"

const char *mst_draft_keep(struct mst_draft *m, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = m->text;

    assert(size <= m->text_left);
    memcpy(kept, text, size);
    m->text += size;
    m->text_left -= size;
    return kept;
}

const char *mst_draft_keep_unless_empty(struct mst_draft *m, const char *text)
{
    return text[0] != '\0' ? mst_draft_keep(m, text) : NULL;
}

bool mst_draft_is_owned(const struct mst_draft *m, const struct mst_process *p)
{
    return mst_entry_is_claimed(p) && !m->dead[p - m->copy->processes];
}

const struct mst_process *mst_draft_owner_of(const struct mst_draft *m, size_t worker)
{
    return &m->copy->processes[worker / m->copy->header.threads_per_process];
}

bool mst_draft_is_working(const struct mst_draft *m, size_t worker)
{
    return mst_draft_is_owned(m, mst_draft_owner_of(m, worker)) &&
           m->copy->workers[worker].state < MST_STATE_COUNT;
}

/* A restart marks the board as stopped until the new configuration is read. A server that lives
 * longer than this after the mark has restarted without the module. */
#define RESTART_NS (10 * MST_NS_PER_S)

/* A board is stopped where its server is gone, or has marked it as stopped and is not
 * restarting. Without a mark (the server was killed) the time of the end is unknown. */
void mst_draft_find_end(struct mst_draft *m, int running)
{
    const struct mst_header *h = &m->copy->header;
    bool gone = running < 0 || mst_elapsed(h->stopped_ns, m->copy->taken_ns) > RESTART_NS;

    m->stopped = running == 0 || (h->stopped_ns != 0 && gone);
    m->killed = m->stopped && h->stopped_ns == 0;
    m->end_ns = m->stopped ? h->stopped_ns : m->copy->taken_ns;
}

/* Sets m->dead for processes that have ended and whose entries are not freed yet: FPM's master
 * frees them at its next fork, php-cgi's next process when it starts. (Apache's parent frees
 * them at once.) Of a parent that was killed, children can go on. Returns whether any process is
 * alive. */
static bool find_dead(struct mst_draft *m)
{
    const struct mst_copy *c = m->copy;
    bool any = false;
    size_t i;

    for (i = 0; i < c->process_count; i++) {
        const struct mst_process *p = &c->processes[i];

        m->dead[i] = mst_entry_is_claimed(p) && mst_entry_running(c->reader, p) == 0;
        any |= mst_entry_is_claimed(p) && !m->dead[i];
    }
    return any;
}

/* Who died is asked only of a PHP that runs and of a server that was killed: nothing is shown of
 * the workers of one that has stopped. */
int mst_draft_find_running(struct mst_draft *m, int running)
{
    const struct mst_header *h = &m->copy->header;
    bool any;

    if (running == 1 ? h->producer != MST_PRODUCER_PHP : running < 0 || h->stopped_ns != 0)
        return running;
    any = find_dead(m);
    return running == 1 && mst_header_has_no_parent(h) ? any : running;
}

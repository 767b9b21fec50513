/* answer_limit.c - how many answers of the journal the server gives at once.
 *
 * Such an answer can be megabytes, and keeps a worker for as long as its reader takes: slow
 * readers could keep all workers. The number of answers that a process gives is a word of its
 * entry on the board, so that the count of a killed process disappears with its entry. Nonsense
 * in that word makes the server refuse journals, or give more of them; nothing else reads it.
 */
#include "answer_limit.h"

#include <pthread.h>

#define LIMIT_LEAST 4u
#define LIMIT_MOST  64u

/* Protects `own`, the count of this process. A forked process never finds the lock held: itk
 * forks before a request, and a process that becomes a program gives no answer. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t own;

/* A sixteenth of the workers, from LIMIT_LEAST to LIMIT_MOST, but at most half of them. */
uint32_t mst_answer_limit(void)
{
    uint64_t workers = mst_recording.board->header->workers_limit, limit = workers / 16;

    if (limit < LIMIT_LEAST)
        limit = LIMIT_LEAST;
    if (limit > workers / 2)
        limit = workers / 2;
    return limit > LIMIT_MOST ? LIMIT_MOST : limit > 0 ? (uint32_t)limit : 1;
}

/* Precondition: the lock is held. The word is set and never added to: whatever a killed process
 * or another writer has left in it disappears. */
static void change_own(int32_t by)
{
    own += (uint32_t)by;
    if (mst_recording.self)
        __atomic_store_n(&mst_recording.self->journal_answers, own, __ATOMIC_SEQ_CST);
}

/* The answers that all processes give together. */
static uint64_t count_all(const struct mst_board *b)
{
    uint64_t sum = own, theirs;
    uint32_t i;

    for (i = 0; i < b->process_count; i++) {
        const struct mst_process *p = &b->processes[i];

        if (p == mst_recording.self || __atomic_load_n(&p->pid, __ATOMIC_RELAXED) == 0)
            continue;
        theirs = __atomic_load_n(&p->journal_answers, __ATOMIC_SEQ_CST);
        sum += theirs < UINT32_MAX ? theirs : UINT32_MAX;
    }
    return sum;
}

/* A process counts its own answer before it reads the others' counts, so that of several that
 * begin at the same moment none misses another. */
bool mst_answer_begin(void)
{
    bool taken;

    pthread_mutex_lock(&lock);
    change_own(1);
    taken = count_all(mst_recording.board) <= mst_answer_limit();
    if (!taken)
        change_own(-1);
    pthread_mutex_unlock(&lock);
    return taken;
}

void mst_answer_end(void)
{
    pthread_mutex_lock(&lock);
    change_own(-1);
    pthread_mutex_unlock(&lock);
}

/* The process that had the entry before may have been killed during an answer. */
void mst_answers_reset(void)
{
    own = 0;
    change_own(0);
}

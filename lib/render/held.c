/* held.c - what holds the workers of a server, as a sentence: see held.h. */
#include "render/held.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/figures.h"

#define DOING_MAX 240u
#define WHO_MAX   (MST_NAME_MAX + 16u)
#define QUEUE_MAX 80u
#define THESE_MAX 64u
#define CODE_MAX  (MST_CODE_WORDS_MAX + THESE_MAX + 8u)
#define HELD_MAX  8u       /* groups that are told */

/* "wait for database mysql localhost, the longest for 19.0 s". */
static void say_doing(char doing[DOING_MAX], const struct mst_held *h)
{
    bool is_one = h->count == 1, waits = h->example->wait[0] != '\0';
    char what[DOING_MAX - 64], words[MST_WAIT_WORDS_MAX];

    mst_wait_words(words, h->example->wait, h->example->wait_end);
    if (waits)
        snprintf(what, sizeof what, "wait%s for %s", is_one ? "s" : "", words);
    else if (h->php_busy > 0)
        snprintf(what, sizeof what, "wait for PHP (%" PRIu64 " of their requests are with its "
                 "workers, %" PRIu64 " wait for one)", h->php_busy, h->php_queue);
    else if (h->computes)
        snprintf(what, sizeof what, "compute%s", is_one ? "s" : "");
    else
        snprintf(what, sizeof what, "%s in the state %s", is_one ? "is" : "are", h->example->state);
    snprintf(doing, DOING_MAX, "%s, %sfor %s", what, is_one ? "" : "the longest ",
             mst_format_time(waits ? h->longest_wait_ns : h->longest_ns).text);
}

static void say_who(char who[WHO_MAX], const struct mst_held *h)
{
    snprintf(who, WHO_MAX, "%s%s", h->pool != NULL ? "PHP's pool " : "",
             h->pool != NULL ? h->pool->label : h->server->is_php ? "PHP" : "Apache");
}

/* "all of its 5 workers", "its only worker", "4 of its 5 workers". */
static void say_these(char these[THESE_MAX], const struct mst_held *h)
{
    if (h->count == 1 && h->limit == 1)
        snprintf(these, THESE_MAX, "its only worker");
    else if (h->count == h->limit)
        snprintf(these, THESE_MAX, "all of its %" PRIu64 " workers", h->limit);
    else
        snprintf(these, THESE_MAX, "%" PRIu64 " of its %" PRIu64 " workers", h->count, h->limit);
}

/* " 3 connections wait in the accept queue."; "": none, or not known. */
static void say_queue(char queue[QUEUE_MAX], const struct mst_held *h)
{
    uint64_t waiting = h->pool != NULL ? h->pool->queue : h->server->queue;

    queue[0] = '\0';
    if (waiting != MST_UNKNOWN && waiting > 0)
        snprintf(queue, QUEUE_MAX, " %" PRIu64 " connection%s in the accept queue.", waiting,
                 waiting > 1 ? "s wait" : " waits");
}

/* What a function of PHP's code is known for: a wait's call, or the CPU time of those that compute.
 * Else it is where they were last, and not where they are. " All of these are in find, a.php:3.";
 * "": not known. */
static void say_code(char code[CODE_MAX], const struct mst_held *h)
{
    char words[MST_CODE_WORDS_MAX], those[THESE_MAX];

    code[0] = '\0';
    if (h->code_count == 0 || !(h->computes || h->example->wait[0] != '\0'))
        return;
    mst_code_words(words, h->in_code->code.function, h->in_code->code.file, h->in_code->code.line);
    if (h->count == 1)
        snprintf(those, sizeof those, "It is");
    else if (h->code_count == h->count)
        snprintf(those, sizeof those, "All of these are");
    else
        snprintf(those, sizeof those, "%" PRIu64 " of these are", h->code_count);
    snprintf(code, CODE_MAX, " %s in %s.", those, words);
}

static void say_stuck(char sentence[MST_HELD_MAX], const struct mst_held *h, const char *doing)
{
    char who[WHO_MAX], queue[QUEUE_MAX], these[THESE_MAX];

    say_who(who, h);
    say_these(these, h);
    say_queue(queue, h);
    snprintf(sentence, MST_HELD_MAX, "%s is stuck: %s %s. %s a request for %s.%s", who, these,
             doing, h->limit == 1 ? "It has not taken" : h->busy >= h->limit ?
             "All are busy, and none has taken" : "Nearly all are busy, and none has taken",
             mst_format_time(h->idle_ns).text, queue);
}

static void say_full(char sentence[MST_HELD_MAX], const struct mst_held *h, const char *doing)
{
    char who[WHO_MAX], queue[QUEUE_MAX], these[THESE_MAX];

    say_who(who, h);
    say_these(these, h);
    say_queue(queue, h);
    snprintf(sentence, MST_HELD_MAX, "%s has no free worker: %s %s.%s", who, these, doing, queue);
}

static void say_long(char sentence[MST_HELD_MAX], const struct mst_held *h, const char *doing)
{
    const char *who = h->server->is_php ? "PHP" : "Apache";
    char limit[24] = "", those[32];

    if (h->limit != MST_UNKNOWN)
        snprintf(limit, sizeof limit, "%" PRIu64 " ", h->limit);
    if (h->count == h->busy)
        snprintf(those, sizeof those, "%s", h->busy == 1 ? "it" : "they");
    else
        snprintf(those, sizeof those, "%" PRIu64 " of them", h->count);
    snprintf(sentence, MST_HELD_MAX, "%" PRIu64 " of %s's %sworkers %s had one request for more "
             "than %s: %s %s.", h->busy, who, limit, h->busy == 1 ? "has" : "have",
             mst_format_time(h->than_ns).text, those, doing);
}

void mst_held_say(char sentence[MST_HELD_MAX], const struct mst_held *held)
{
    char doing[DOING_MAX], code[CODE_MAX];
    size_t length;

    say_doing(doing, held);
    (held->is_stuck ? say_stuck : held->is_full ? say_full : say_long)(sentence, held, doing);
    say_code(code, held);
    length = strlen(sentence);
    snprintf(sentence + length, MST_HELD_MAX - length, "%s", code);
}

static void tell(const struct mst_snapshot *const *boards, struct mst_present *first,
                 struct mst_present **servers, size_t count, mst_held_take *take, void *context)
{
    struct mst_held held[HELD_MAX];
    char sentence[MST_HELD_MAX];
    size_t i, n;

    for (i = 0; i < count; i++) {
        servers[i] = &first[i];
        mst_present_take(servers[i], boards[i]);
    }
    mst_present_join(servers, count);
    n = mst_present_held(servers, count, held, HELD_MAX);
    for (i = 0; i < n; i++) {
        mst_held_say(sentence, &held[i]);
        take(context, boards[held[i].server - first], &held[i], sentence);
    }
    for (i = 0; i < count; i++)
        mst_present_free(servers[i]);
}

void mst_held_tell(const struct mst_snapshot *const *boards, size_t count, mst_held_take *take,
                   void *context)
{
    struct mst_present *first = calloc(count + 1, sizeof *first);
    struct mst_present **servers = calloc(count + 1, sizeof *servers);

    if (first != NULL && servers != NULL)
        tell(boards, first, servers, count, take, context);
    free(servers);
    free(first);
}

void mst_held_put_code(struct mst_json *j, const struct mst_code_at *code)
{
    if (code == NULL || code->function[0] == '\0') {
        mst_json_string(j, "code", NULL);
        return;
    }
    mst_json_begin(j, "code", '{');
    mst_json_string(j, "function", code->function);
    mst_json_string(j, "file", code->file[0] != '\0' ? code->file : NULL);
    mst_json_count(j, "line", code->line != 0 ? code->line : MST_UNKNOWN);
    mst_json_string(j, "component", code->component[0] != '\0' ? code->component : NULL);
    mst_json_end(j, '}');
}

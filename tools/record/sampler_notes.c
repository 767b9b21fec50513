/* sampler_notes.c - what a recording says of one of its servers: see sampler_notes.h. */
#include "record/sampler_notes.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "console/diag.h"
#include "console/format.h"

static const char *called(const struct mst_sampler *s)
{
    return mst_source_called(s->source);
}

int mst_sampler_note(struct mst_sampler *s, const char *text)
{
    mst_warn("%s", text);
    return mst_archive_add_note(s->archive, s->run_id, mst_realtime_ns(), text);
}

int mst_sampler_note_trouble(struct mst_sampler *s, const char *text)
{
    static const unsigned char key[MST_SIPHASH_KEY];
    uint64_t hash = mst_siphash(key, text, strlen(text));
    size_t i;

    for (i = 0; i < s->noted_count; i++)
        if (s->noted[i] == hash)
            return 0;
    if (s->noted_count == MST_NOTES_MAX)
        return 0;
    s->noted[s->noted_count++] = hash;
    if (mst_sampler_note(s, text) != 0)
        return -1;
    return s->noted_count < MST_NOTES_MAX ? 0 :
           mst_sampler_note(s, "further problems of this server are not noted: there are too many");
}

/* ---- a server that is lost, and comes back ------------------------------------------- */

int mst_sampler_note_lost(struct mst_sampler *s, const char *end)
{
    uint64_t now_ns = mst_realtime_ns(), lost_ns = s->lost_wall_ns;
    char text[MST_ERROR_MAX];

    if (s->outages++ >= MST_NOTES_MAX)
        return 0;
    snprintf(text, sizeof text, "%.200s was lost from %s to %s (%s): %s", called(s),
             mst_format_clock(lost_ns).text, mst_format_clock(now_ns).text,
             mst_format_duration(now_ns > lost_ns ? now_ns - lost_ns : 0).text, end);
    return mst_sampler_note(s, text);
}

int mst_sampler_see_answer(struct mst_sampler *s)
{
    int result = 0;

    if (mst_sampler_is_lost(s))
        result = mst_sampler_note_lost(s, "it answers again, and is recorded on; what it served "
                                       "meanwhile is here as far as its journal still has it");
    s->lost_wall_ns = 0;
    s->answered_wall_ns = mst_realtime_ns();
    return result;
}

int mst_sampler_see_no_answer(struct mst_sampler *s, const char *error)
{
    if (!mst_sampler_is_lost(s))
        s->lost_wall_ns = s->answered_wall_ns != 0 ? s->answered_wall_ns : mst_realtime_ns();
    return mst_sampler_note_trouble(s, error);
}

void mst_sampler_say_unknown(const struct mst_sampler *s, char text[MST_ERROR_MAX])
{
    text[0] = '\0';
    if (mst_source_doubt(s->source)[0] != '\0')
        snprintf(text, MST_ERROR_MAX, "%s", mst_source_doubt(s->source));
    else if (!s->local)
        snprintf(text, MST_ERROR_MAX, "its processes cannot be seen from here: another machine, "
                 "another pid namespace, or no permission to read its board");
    else if (s->others_processes)
        snprintf(text, MST_ERROR_MAX, "its processes are those of the server that it runs in: "
                 "memory and CPU are there");
    else if (!s->memory)
        snprintf(text, MST_ERROR_MAX, "memory was not read (--no-memory)");
    else if (s->processes.problem[0] != '\0')
        snprintf(text, MST_ERROR_MAX, "%s", s->processes.problem);
    else if (s->cpu_ns == MST_UNKNOWN)
        snprintf(text, MST_ERROR_MAX, "its parent process ended during the run");
}

int mst_sampler_note_clock(struct mst_sampler *s)
{
    uint64_t jump_ns = mst_source_clock_jump_ns(s->source);
    char text[MST_ERROR_MAX];

    if (jump_ns == 0)
        return 0;
    snprintf(text, sizeof text, "the clock of %.200s jumped by %s during the run, or its times "
             "are wrong: do not compare its instants with other servers'", called(s),
             mst_format_time(jump_ns).text);
    return mst_sampler_note(s, text);
}

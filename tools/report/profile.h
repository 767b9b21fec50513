/* profile.h - PHP's code as a profile for other programs, with CPU time and waiting. */
#ifndef MPMSTAT_PROFILE_H
#define MPMSTAT_PROFILE_H

#include "analysis/php_code.h"
#include "render/sink.h"

/* Folded stacks, with microseconds; speedscope's JSON; pprof's protobuf. */
enum mst_profile_format {
    MST_PROFILE_FOLDED, MST_PROFILE_SPEEDSCOPE, MST_PROFILE_PPROF, MST_PROFILE_FORMATS
};

/* What the profile is of, and when its samples were taken (nanoseconds since 1970). */
struct mst_profile_of { const char *name; uint64_t started_ns, duration_ns; };

/* Writes the code of one server. Where memory runs out, the sink fails. */
void mst_profile_put(struct mst_sink *sink, const struct mst_php_code *code,
                     enum mst_profile_format format, const struct mst_profile_of *of);

#endif

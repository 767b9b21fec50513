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

enum mst_profile_put {
    MST_PROFILE_NONE,         /* the server has no samples */
    MST_PROFILE_PUT,
    MST_PROFILE_SEVERAL,      /* it is a further one, and the format is of one */
    MST_PROFILE_UNREADABLE    /* the archive cannot be read, or memory ran out */
};
/* What a message on several of them begins with. */
#define MST_PROFILE_OF_ONE "several servers have samples of PHP's code, and this format is of one: "

/* Writes the code of a server of an archive. Where memory runs out meanwhile, the sink fails. */
enum mst_profile_put mst_profile_put(struct mst_sink *sink, sqlite3 *db, int64_t server,
                                     enum mst_profile_format format,
                                     const struct mst_profile_of *of, bool is_first);

#endif

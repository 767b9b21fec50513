/* export_options.c - the options of the verbs that send requests to a collector: see
 * export_options.h. */
#include "cli/export_options.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/quantities.h"
#include "console/diag.h"
#include "console/options.h"
#include "memory/pool.h"
#include "segment/format.h"

#define SLOWER_MAX_NS (UINT64_C(86400) * MST_NS_PER_S)

void mst_export_options_begin(struct mst_export_options *o)
{
    const char *service = getenv("OTEL_SERVICE_NAME");

    *o = (struct mst_export_options){
        .choice = { .slower_than_ns = MST_UNKNOWN },
        .service = service != NULL && *service != '\0' ? service : "apache",
    };
}

void mst_export_options_free(struct mst_export_options *o)
{
    free(o->post.headers);
}

static void add_header(struct mst_post_settings *post, const char *header)
{
    const char **place = mst_have(mst_append(&post->headers, &post->header_count, sizeof *place));

    *place = header;
}

bool mst_export_option(struct mst_export_options *o, const char *verb, int option,
                       const char *argument, int *status)
{
    *status = MST_EXIT_OK;
    switch (option) {
    case MST_OPTION_OTLP:        o->post.url = argument; return true;
    case MST_OPTION_HEADER:      add_header(&o->post, argument); break;
    case MST_OPTION_HEADER_FILE: o->post.header_file = argument; break;
    case MST_OPTION_CA_FILE:     o->post.ca_file = argument; break;
    case MST_OPTION_SERVICE:     o->service = argument; break;
    case MST_OPTION_HOST:        o->host = argument; break;
    case MST_OPTION_FAILED:      o->has_choice = o->choice.failed = true; break;
    case MST_OPTION_SAMPLED:     o->has_choice = o->choice.sampled = true; break;
    case MST_OPTION_SLOWER_THAN:
        o->has_choice = true;
        *status = mst_time_read(verb, "slower-than", argument, 0, SLOWER_MAX_NS,
                                &o->choice.slower_than_ns);
        break;
    default:
        return false;
    }
    o->is_used = true;
    return true;
}

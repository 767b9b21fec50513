/* export_options.c - the options of the verbs that send requests to a collector: see
 * export_options.h. */
#include "cli/export_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "console/diag.h"
#include "segment/format.h"

#define SLOWER_MAX_NS (UINT64_C(86400) * MST_NS_PER_S)

int mst_time_read(const char *verb, const char *option, const char *text, uint64_t low_ns,
                  uint64_t high_ns, uint64_t *ns)
{
    static const struct { const char *unit; double ns; } units[] = {
        { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
    };
    char *unit;
    double number = strtod(text, &unit);
    size_t i;

    for (i = 0; i < sizeof units / sizeof *units && unit != text; i++)
        if (strcmp(unit, units[i].unit) == 0 && number * units[i].ns >= (double)low_ns &&
            number * units[i].ns <= (double)high_ns) {
            *ns = (uint64_t)(number * units[i].ns);
            return MST_EXIT_OK;
        }
    return mst_usage_error(verb, "expected --%s to be a time with its unit (500ms, 2s, 5m), "
                           "found \"%s\"", option, text);
}

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

static int add_header(struct mst_post_settings *post, const char *header)
{
    const char **place = mst_append(&post->headers, &post->header_count, sizeof *place);

    if (place == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "out of memory");
    *place = header;
    return MST_EXIT_OK;
}

bool mst_export_option(struct mst_export_options *o, const char *verb, int option,
                       const char *argument, int *status)
{
    *status = MST_EXIT_OK;
    switch (option) {
    case MST_OPTION_OTLP:        o->post.url = argument; return true;
    case MST_OPTION_HEADER:      *status = add_header(&o->post, argument); break;
    case MST_OPTION_HEADER_FILE: o->post.header_file = argument; break;
    case MST_OPTION_OTLP_CA:     o->post.ca_file = argument; break;
    case MST_OPTION_SERVICE:     o->service = argument; break;
    case MST_OPTION_HOST:        o->host = argument; break;
    case MST_OPTION_FAILED:      o->has_choice = o->choice.failed = true; break;
    case MST_OPTION_SAMPLED:     o->has_choice = o->choice.sampled = true; break;
    case MST_OPTION_SLOWER:
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

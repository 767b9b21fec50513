/* export_options.h - the options of the verbs that send requests to a collector: to which, and
 * which requests.
 */
#ifndef MPMSTAT_EXPORT_OPTIONS_H
#define MPMSTAT_EXPORT_OPTIONS_H

#include <getopt.h>

#include "export/post.h"

enum {
    MST_OPTION_OTLP = 512, MST_OPTION_HEADER, MST_OPTION_HEADER_FILE, MST_OPTION_OTLP_CA,
    MST_OPTION_SLOWER, MST_OPTION_FAILED, MST_OPTION_SAMPLED, MST_OPTION_SERVICE, MST_OPTION_HOST
};

/* For a table of getopt_long(). */
#define MST_EXPORT_OPTIONS \
    { "otlp", required_argument, NULL, MST_OPTION_OTLP }, \
    { "header", required_argument, NULL, MST_OPTION_HEADER }, \
    { "header-file", required_argument, NULL, MST_OPTION_HEADER_FILE }, \
    { "ca-file", required_argument, NULL, MST_OPTION_OTLP_CA }, \
    { "slower-than", required_argument, NULL, MST_OPTION_SLOWER }, \
    { "failed", no_argument, NULL, MST_OPTION_FAILED }, \
    { "sampled", no_argument, NULL, MST_OPTION_SAMPLED }, \
    { "service", required_argument, NULL, MST_OPTION_SERVICE }, \
    { "host", required_argument, NULL, MST_OPTION_HOST }

struct mst_export_options {
    struct mst_post_settings post;
    struct mst_export_choice choice;
    bool                     has_choice;   /* one of its options was there */
    bool                     is_used;      /* any was, besides --otlp */
    const char              *service, *host;
};

/* Nothing is chosen; the service is that of OTEL_SERVICE_NAME, or "apache". */
void mst_export_options_begin(struct mst_export_options *o);
void mst_export_options_free(struct mst_export_options *o);

/* Takes one of these, with an enum mst_exit in *status; false: it is none of them. */
bool mst_export_option(struct mst_export_options *o, const char *verb, int option,
                       const char *argument, int *status);

#endif

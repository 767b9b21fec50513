/* export_options.h - the options of the verbs that send requests to a collector: to which, and
 * which requests.
 */
#ifndef MPMSTAT_EXPORT_OPTIONS_H
#define MPMSTAT_EXPORT_OPTIONS_H

#include "export/post.h"

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

/* Takes one of their options, with an enum mst_exit in *status; false: it is another. */
bool mst_export_option(struct mst_export_options *o, const char *verb, int option,
                       const char *argument, int *status);

#endif

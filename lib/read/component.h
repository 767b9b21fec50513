/* component.h - the part of an application that a file of PHP's code belongs to: a plugin, a
 * module, a package; else its directory. component.def has the rules.
 */
#ifndef MPMSTAT_COMPONENT_H
#define MPMSTAT_COMPONENT_H

#include <stdbool.h>

#include "segment/terms.h"

#define MST_COMPONENT_MAX MST_FRAME_FILE_MAX

struct mst_component {
    char name[MST_COMPONENT_MAX];   /* "plugins/akismet", "vendor/guzzlehttp/guzzle", "/var/www";
                                     * "": PHP itself */
    bool is_base;                   /* code that applications are built on */
};

/* Of a file's path; "": a function of PHP itself. */
void mst_component_of(struct mst_component *component, const char *file);

#endif

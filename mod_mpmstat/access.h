/* access.h - who may see the status page. */
#ifndef MPMSTAT_ACCESS_H
#define MPMSTAT_ACCESS_H

#include "mod_mpmstat.h"

/* Whether the status page answers a request that has come to its handler. OK: it does. Else the
 * status to answer with; *sentence is then the body, from the request's pool or static, or NULL
 * for httpd's own page. */
int mst_check_access(request_rec *r, const char **sentence);

/* httpd's hook: there is no .htaccess file for the page of a <Location>. */
apr_status_t mst_access_open_htaccess(request_rec *r, const char *directory, const char *name,
                                      ap_configfile_t **file, const char **path);

#endif

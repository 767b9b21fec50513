/* server_settings.h - what a server's files say of its processes, into the environment of a run:
 * for advice that the server accepts. */
#ifndef MPMSTAT_SERVER_SETTINGS_H
#define MPMSTAT_SERVER_SETTINGS_H

#include "archive/writer.h"
#include "source/source.h"

/* What a server tells of its settings ("apache_settings"); where it runs on this machine (`here`),
 * also what its files say: "php_pool www pm.max_children" is "5 /etc/php/8.2/fpm/pool.d/www.conf",
 * "apache_file StartServers" is "2 /etc/apache2/mods-enabled/mpm_event.conf", "php_program" is
 * "php-fpm8.2". What cannot be read is left out. 0, or -1: the archive failed. */
int mst_archive_add_server_settings(struct mst_archive *a, int64_t run_id, const char *prefix,
                                    const struct mst_source_identity *server, bool here);

#endif

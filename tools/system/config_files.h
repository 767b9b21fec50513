/* config_files.h - where the settings of a running server stand: the files of its configuration, as
 * they are now. What is in force is the server's to tell: a file may have changed since its start.
 */
#ifndef MPMSTAT_CONFIG_FILES_H
#define MPMSTAT_CONFIG_FILES_H

#include <stdint.h>

/* A setting of a file: `section` is FPM's pool; "" of Apache, and of FPM itself. Called in the
 * order in which the server reads: a later one of the same name replaces an earlier one. */
typedef void mst_config_see(void *context, const char *section, const char *name,
                            const char *value, const char *file);

/* The settings of the PHP-FPM whose master is `pid`. Files that cannot be read are left out. */
void mst_fpm_config_read(uint64_t pid, mst_config_see *see, void *context);

/* The directives of the main server of the Apache whose parent is `pid`, which has that MPM: not
 * those of virtual hosts, locations and modules that it has not. */
void mst_httpd_config_read(uint64_t pid, const char *mpm, mst_config_see *see, void *context);

#endif

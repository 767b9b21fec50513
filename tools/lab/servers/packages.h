/* packages.h - which Debian packages are not installed. */
#ifndef MPMSTAT_LAB_PACKAGES_H
#define MPMSTAT_LAB_PACKAGES_H

#include "base/error.h"
#include "memory/pool.h"

struct mst_packages;

/* Asks dpkg what is installed. NULL with a sentence. */
struct mst_packages *mst_packages_read(apr_pool_t *pool, char error[MST_ERROR_MAX]);

/* Adds those of the names (NULL at their end) that are not installed, and are not in it yet,
 * to the list of words `missing`. A name can be that of what a package provides; php-NAME is
 * also phpVERSION-NAME. */
void mst_packages_missing(const struct mst_packages *packages, char *const *names,
                          char missing[MST_ERROR_MAX]);

/* The sentence for such a list. Returns 1. */
int mst_packages_tell(const char *missing, char error[MST_ERROR_MAX]);

#endif

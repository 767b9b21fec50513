/* contents.h - fills a sandbox with a stack's directories and files. */
#ifndef MPMSTAT_LAB_CONTENTS_H
#define MPMSTAT_LAB_CONTENTS_H

#include "lab/servers/sandbox.h"
#include "lab/servers/site.h"
#include "lab/servers/test_users.h"

/* Makes the directories, writes the site's files and copies the workloads. test_users own the
 * files that the site says are theirs. 0, or -1 with a sentence. */
int mst_contents_write(const struct mst_sandbox *root, const struct mst_site *site,
                       const struct mst_test_users *test_users, char error[MST_ERROR_MAX]);

#endif

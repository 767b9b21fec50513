/* page.h - whether a page is the right one. */
#ifndef MPMSTAT_LAB_PAGE_H
#define MPMSTAT_LAB_PAGE_H

#include <signal.h>
#include <stdint.h>

#include "base/error.h"

/* Gets the page, as a browser would. It must have status 200 and, where `expects` is not NULL,
 * contain that text: then error is "", else a sentence that says what was found instead.
 * *bytes (NULL: not wanted) is its length. Returns its status; 0: there was no answer. */
long mst_page_check(const char *url, const char *expects, const volatile sig_atomic_t *stop,
                    uint64_t *bytes, char error[MST_ERROR_MAX]);

#endif

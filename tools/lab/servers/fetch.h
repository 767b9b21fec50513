/* fetch.h - gets a page as a browser would, to see whether it is the right one. */
#ifndef MPMSTAT_LAB_FETCH_H
#define MPMSTAT_LAB_FETCH_H

#include <signal.h>
#include <stdint.h>

#include "base/error.h"

/* Gets the page. Its status; 0: there was no answer, error says why. It must have status 200
 * and, where `expects` is not NULL, contain that text: else error is a sentence, too, that
 * shows what it is instead; "" it is right. *bytes (NULL: not wanted) is its length. */
long mst_fetch(const char *url, const char *expects, const volatile sig_atomic_t *stop,
               uint64_t *bytes, char error[MST_ERROR_MAX]);

#endif

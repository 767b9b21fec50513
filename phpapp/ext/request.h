/* request.h - one request. */
#ifndef MPMSTAT_PHP_REQUEST_H
#define MPMSTAT_PHP_REQUEST_H

#include <stddef.h>

/* At MINIT and MSHUTDOWN: begin and end to watch errors and compilations. */
void mst_request_start_watching(void);
void mst_request_stop_watching(void);

void mst_request_begin(void);      /* RINIT */
void mst_request_note(void);       /* RSHUTDOWN: notes what is gone after it */
void mst_request_end(void);        /* post-deactivate: all else is done */
/* mpmstat_mark(). name: of `length` bytes, cut to MST_MARK_MAX - 1. */
void mst_request_mark(const char *name, size_t length);

#endif

/* request.h - one request. */
#ifndef MPMSTAT_PHP_REQUEST_H
#define MPMSTAT_PHP_REQUEST_H

#include <stddef.h>

/* At MINIT and MSHUTDOWN: watches errors and compilations. */
void mst_request_start_watching(void);
void mst_request_stop_watching(void);

void mst_request_begin(void);      /* RINIT */
void mst_request_look(void);       /* RSHUTDOWN: what is gone after it */
void mst_request_end(void);        /* post-deactivate: everything is torn down */
void mst_request_mark(const char *name, size_t length);

#endif

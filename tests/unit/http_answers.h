/* http_answers.h - answers of a status page, as a source reads them. */
#ifndef MPMSTAT_TESTS_HTTP_ANSWERS_H
#define MPMSTAT_TESTS_HTTP_ANSWERS_H

#include <stddef.h>

#include "source/ndjson.h"
#include "write/board.h"

#define PAGE 1000u    /* records of a kind that are asked for */

struct text { char *bytes; size_t length; };

int append(void *context, const void *bytes, size_t n);

struct expected { const struct mst_board *board; const struct mst_ndjson *answer; size_t seen; };

#endif

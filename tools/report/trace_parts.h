/* trace_parts.h - the parts of a request's time, as reports call them. */
#ifndef MPMSTAT_TRACE_PARTS_H
#define MPMSTAT_TRACE_PARTS_H

#include <stddef.h>

#include "analysis/trace.h"

/* The class gives the colour: see report.css. */
struct mst_trace_shown { const char *class, *label; };
extern const struct mst_trace_shown mst_trace_parts[MST_TRACE_COUNT];

size_t mst_trace_longest(const uint64_t parts_ns[MST_TRACE_COUNT]);

#endif

/* serial.h - whether what requests waited for lets in one of them at a time.
 *
 * Such a thing is told from one that is slow by the ends of the waits: they follow each other at
 * the distance of the shortest wait. More workers help only with what is slow. A thinned archive
 * has not all ends, and does not tell the two apart.
 */
#ifndef MPMSTAT_FINDINGS_SERIAL_H
#define MPMSTAT_FINDINGS_SERIAL_H

#include "findings/inquiry.h"

/* What is waited for: of an Apache the checks before the application, a backend, what the server
 * has to send; of a PHP one of its kinds of waits. */
enum mst_serial_of { MST_SERIAL_CHECKS, MST_SERIAL_BACKEND, MST_SERIAL_SENDING, MST_SERIAL_WAIT };

/* kind: of MST_SERIAL_WAIT, else NULL. inside_min: NO where fewer requests waited at once on
 * average. UNKNOWN: the archive is thinned. */
enum mst_answer mst_serial(struct mst_inquiry *q, enum mst_serial_of what,
                           const struct mst_summary_server *server, const char *kind,
                           double inside_min);

/* Notes it in a finding about that part of Apache's time; where it is so, says it, and has the
 * finding explain all waits for workers. */
void mst_note_serial(struct mst_inquiry *q, struct mst_finding *f, enum mst_serial_of what,
                     uint64_t part_ns);

#endif

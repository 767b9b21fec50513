/* log_end.h - the end of a log: as a rule it says why a server or a script failed. */
#ifndef MPMSTAT_LAB_LOG_END_H
#define MPMSTAT_LAB_LOG_END_H

#include <stddef.h>

/* Reads the last size - 1 bytes of the file into text, without the newlines at its end, and ends
 * them with a NUL. Returns how many bytes there are; 0: none, or the file cannot be read. */
size_t mst_log_end(const char *path, char *text, size_t size);

#endif

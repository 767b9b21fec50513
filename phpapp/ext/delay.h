/* delay.h - how long a thread was ready to run and had no CPU. */
#ifndef MPMSTAT_PHP_DELAY_H
#define MPMSTAT_PHP_DELAY_H

#include <stdint.h>

/* Opens the figures of the calling thread, where they are not open. To be called while /proc is
 * there: FPM changes its workers' root directory after their fork. */
void mst_delay_open(void);
/* Closes them, for a thread that records nothing from here on. */
void mst_delay_close(void);

/* Nanoseconds since the thread began; MST_UNKNOWN where the kernel does not say. */
uint64_t mst_delay_read(void);

#endif

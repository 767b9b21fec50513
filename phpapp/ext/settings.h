/* settings.h - php.ini's settings for the board's header. */
#ifndef MPMSTAT_PHP_SETTINGS_H
#define MPMSTAT_PHP_SETTINGS_H

#include <stddef.h>

/* Writes "memory_limit = 128M; max_execution_time = 30; ...", cut where it does not fit. */
void mst_settings_write(char *to, size_t size);

#endif

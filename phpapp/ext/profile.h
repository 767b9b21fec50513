/* profile.h - samples of where PHP's code uses CPU time. */
#ifndef MPMSTAT_PHP_PROFILE_H
#define MPMSTAT_PHP_PROFILE_H

#include "state.h"

/* Once for PHP, before and after all requests. */
void mst_profile_install(void);
void mst_profile_uninstall(void);

/* As a recorded request begins. Arms this thread's timer where it is not. */
void mst_profile_begin(void);

/* The thread whose globals these are ends: so does its timer. */
void mst_profile_leave(zend_mpmstat_globals *of);

#endif

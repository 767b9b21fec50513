/* label.h - the label that a request is counted under. */
#ifndef MPMSTAT_PHP_LABEL_H
#define MPMSTAT_PHP_LABEL_H

#include "state.h"

/* In a new worker of FPM, before it serves as another user and with another root. */
void mst_label_join(void);

/* RINIT, recorded or not: the first one learns the pool's name. */
void mst_label_learn(void);

/* mpmstat.label changes. */
ZEND_INI_MH(mst_label_update);

/* Sets MPMSTAT_G(label_index). */
void mst_label_choose(void);

/* The board, or the process on it, is another: the next request chooses again. */
void mst_label_forget(void);

/* For phpinfo(): this request's label, and where it was not to be had, which was set. */
void mst_label_show(char *to, size_t size);

#endif

/* label.h - the label that a request is counted under. */
#ifndef MPMSTAT_PHP_LABEL_H
#define MPMSTAT_PHP_LABEL_H

#include "state.h"

/* For a new worker of FPM, before it changes its user and its root directory. */
void mst_label_join(void);

/* At RINIT of every request, recorded or not: the first one finds the pool's name. */
void mst_label_learn(void);

/* The handler of the setting mpmstat.label. */
ZEND_INI_MH(mst_label_update);

/* Sets MPMSTAT_G(label_index) for the present request. */
void mst_label_choose(void);

/* The tenant of the present request: mst_label_owner() of its pool, or of its document root. */
uint64_t mst_label_tenant(void);

/* After a change of the board or of this process on it: the next request chooses again. */
void mst_label_forget(void);

/* For phpinfo(): writes this request's label; and the one that was set, where it was refused. */
void mst_label_show(char *to, size_t size);

#endif

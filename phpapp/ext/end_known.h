/* end_known.h - the objects and resources of the present request whose other ends are known.
 *
 * What a connection leads to is known when it is made. From then on it is remembered for the object
 * or resource, for which later functions are called.
 */
#ifndef MPMSTAT_PHP_END_KNOWN_H
#define MPMSTAT_PHP_END_KNOWN_H

#include <php.h>
#include <stdint.h>

#define MST_KNOWN_NONE UINT64_MAX   /* instead of a wait */

/* The object or resource that a value is; NULL: it is neither. */
const void *mst_known_in(const zval *value);

/* The wait that is noted for a thing; MST_KNOWN_NONE: none is. */
uint64_t mst_known_find(const void *thing);

/* Notes what a thing waits for. MST_KNOWN_NONE: what is noted for this address was another thing's.
 * Where all places are taken, the last one loses its entry: that object's calls are counted under
 * the name of their line. */
void mst_known_set(const void *thing, uint64_t wait);

/* The request is over, and so are its objects. */
void mst_known_forget(void);

#endif

/* state.c - the variables that the extension's files share: see state.h. */
#include "state.h"

#include <zend_extensions.h>

ZEND_DECLARE_MODULE_GLOBALS(mpmstat)

#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif

struct mst_php mst_php;

int mst_reserve_slot(void)
{
#if PHP_VERSION_ID >= 80000
    return zend_get_resource_handle("mpmstat");
#else
    static zend_extension owner;

    return zend_get_resource_handle(&owner);
#endif
}

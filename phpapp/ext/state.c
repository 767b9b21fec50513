/* state.c - the variables that the extension's files share: see state.h. */
#include "state.h"

#include "compat.h"

ZEND_DECLARE_MODULE_GLOBALS(mpmstat)

#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif

struct mst_php mst_php;

int mst_reserve_slot(void)
{
    return mst_resource_handle();
}

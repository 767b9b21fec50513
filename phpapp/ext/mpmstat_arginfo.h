/* mpmstat_arginfo.h - mpmstat.stub.php as Zend wants it. */
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_mpmstat_mark, 0, 1, IS_VOID, 0)
    ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_FUNCTION(mpmstat_mark);

static const zend_function_entry mpmstat_functions[] = {
    ZEND_FE(mpmstat_mark, arginfo_mpmstat_mark)
    ZEND_FE_END
};

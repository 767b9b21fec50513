dnl mpmstat.m4 - configure.ac's own macros.

dnl MST_MISSING(WHAT, PACKAGE, [OR ELSE])
dnl Notes that something needed was not found, and the Debian package that has it.
AC_DEFUN([MST_MISSING], [
    AS_VAR_APPEND([mst_missing], ["
  $1: apt-get install $2[]m4_ifval([$3], [ ($3)])"])])

dnl MST_FLAG(VARIABLE, FLAG...)
dnl Adds each of the flags that compiler and linker take without a warning.
AC_DEFUN([MST_FLAG], [
    for flag in $2; do
        mst_saved=$CFLAGS
        CFLAGS="$CFLAGS -Werror $flag"
        AC_MSG_CHECKING([whether $CC takes $flag])
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[return (int)strlen("")]])],
            [AC_MSG_RESULT([yes]); AS_VAR_APPEND([$1], [" $flag"])],
            [AC_MSG_RESULT([no])])
        CFLAGS=$mst_saved
    done])

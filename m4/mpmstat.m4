dnl mpmstat.m4 - the macros that configure.ac defines for itself.

dnl MST_MISSING(WHAT, PACKAGE, [ALTERNATIVE])
dnl Notes a requirement that was not found, and the Debian package that contains it.
AC_DEFUN([MST_MISSING], [
    AS_VAR_APPEND([mst_missing], ["
  $1: apt-get install $2[]m4_ifval([$3], [ ($3)])"])])

dnl MST_FLAG(VARIABLE, FLAG...)
dnl Adds each flag that compiler and linker accept without a warning.
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

dnl MST_FORTIFY(VARIABLE)
dnl Adds _FORTIFY_SOURCE where neither the user's flags (as distributions set them) nor the compiler
dnl (which may predefine it) define it. It needs an optimizing build.
AC_DEFUN([MST_FORTIFY], [
    AC_MSG_CHECKING([what sets _FORTIFY_SOURCE])
    AS_CASE([" $CPPFLAGS $CFLAGS "],
        [*_FORTIFY_SOURCE*], [mst_fortify='the flags given'],
        [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef _FORTIFY_SOURCE
#error undecided
#endif
            ]])],
            [mst_fortify='the compiler'],
            [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __OPTIMIZE__
#error it would warn
#endif
                ]])],
                [mst_fortify='this package: 2'], [mst_fortify='nothing: the build is not optimized'])])])
    AC_MSG_RESULT([$mst_fortify])
    AS_IF([test "$mst_fortify" = 'this package: 2'], [MST_FLAG([$1], [-D_FORTIFY_SOURCE=2])])])

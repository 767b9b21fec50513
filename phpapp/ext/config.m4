dnl config.m4 - builds the extension alone, with phpize: PIE does so (composer.json). The project's own
dnl build does not use this file.

PHP_ARG_ENABLE([mpmstat], [whether to build mpmstat],
  [AS_HELP_STRING([--disable-mpmstat], [do not build mpmstat])], [yes])

if test "$PHP_MPMSTAT" != no; then
  mpmstat_top=$abs_srcdir/../..
  mpmstat_version=`$SED -n '1s/^mpmstat //p' "$mpmstat_top/NEWS"`
  if test -z "$mpmstat_version"; then
    AC_MSG_ERROR([expected mpmstat's source around this directory: the first line of $mpmstat_top/NEWS has its version])
  fi
  echo "#define MPMSTAT_VERSION \"$mpmstat_version\"" >"$abs_srcdir/phpize_version.h"

  dnl PHP's macros take no source from above this directory.
  rm -f "$abs_srcdir/phpize_lib"
  ln -s ../../lib "$abs_srcdir/phpize_lib"
  mpmstat_sources=
  for mpmstat_file in "$abs_srcdir"/*.c; do
    mpmstat_sources="$mpmstat_sources `basename "$mpmstat_file"`"
  done
  for mpmstat_room in base segment write; do
    for mpmstat_file in "$mpmstat_top/lib/$mpmstat_room"/*.c; do
      mpmstat_sources="$mpmstat_sources phpize_lib/$mpmstat_room/`basename "$mpmstat_file"`"
    done
  done
  PHP_NEW_EXTENSION([mpmstat], [$mpmstat_sources], [$ext_shared],,
    [-std=gnu11 -fvisibility=hidden -D_GNU_SOURCE -I@ext_srcdir@ -I@ext_srcdir@/phpize_lib -include @ext_srcdir@/phpize_version.h -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
fi

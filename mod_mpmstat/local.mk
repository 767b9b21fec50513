# The Apache module.

module_LTLIBRARIES = mod_mpmstat.la
mod_mpmstat_la_SOURCES = \
	mod_mpmstat/accept_wait.c \
	mod_mpmstat/access.c \
	mod_mpmstat/access.h \
	mod_mpmstat/answer_limit.c \
	mod_mpmstat/answer_limit.h \
	mod_mpmstat/backend.c \
	mod_mpmstat/config.c \
	mod_mpmstat/connections.c \
	mod_mpmstat/delivery.c \
	mod_mpmstat/ends.c \
	mod_mpmstat/exports.c \
	mod_mpmstat/forks.c \
	mod_mpmstat/handler.c \
	mod_mpmstat/hooks.c \
	mod_mpmstat/http2.c \
	mod_mpmstat/listeners.c \
	mod_mpmstat/listeners.h \
	mod_mpmstat/mod_mpmstat.c \
	mod_mpmstat/mod_mpmstat.h \
	mod_mpmstat/mpm.c \
	mod_mpmstat/processes.c \
	mod_mpmstat/record.c \
	mod_mpmstat/recording.c \
	mod_mpmstat/request.h \
	mod_mpmstat/scoreboard.c \
	mod_mpmstat/scoreboard.h \
	mod_mpmstat/shared.c \
	mod_mpmstat/tcp_info.c \
	mod_mpmstat/tcp_info.h \
	mod_mpmstat/timing.c \
	mod_mpmstat/tls.c \
	mod_mpmstat/trace.c \
	mod_mpmstat/upload.c
mod_mpmstat_la_CPPFLAGS = $(MODULE_CPPFLAGS)
mod_mpmstat_la_CFLAGS = $(AM_CFLAGS) $(APR_SANITIZER_CFLAGS)
mod_mpmstat_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^mpmstat_(module|guard)$$'
mod_mpmstat_la_LIBADD = libmpmstat.la

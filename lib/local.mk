# The library: what the module, the extension, the tool and the tests link unchanged.

noinst_LTLIBRARIES += libmpmstat.la
libmpmstat_la_CPPFLAGS = $(LIBRARY_CPPFLAGS)
libmpmstat_la_SOURCES = $(board_sources) $(render_sources)

# Everything that a board needs, without the formats that show it.
board_sources = \
	lib/base/array.c \
	lib/base/array.h \
	lib/base/clock.c \
	lib/base/clock.h \
	lib/base/error.c \
	lib/base/error.h \
	lib/base/fnv.h \
	lib/base/host.c \
	lib/base/host.h \
	lib/base/memory.c \
	lib/base/memory.h \
	lib/base/ratio.h \
	lib/base/saturate.h \
	lib/base/siphash.c \
	lib/base/siphash.h \
	lib/base/strings.c \
	lib/base/strings.h \
	lib/segment/fields.c \
	lib/segment/fields.def \
	lib/segment/fields.h \
	lib/segment/format.h \
	lib/segment/handover.c \
	lib/segment/handover.h \
	lib/segment/histogram.c \
	lib/segment/histogram.h \
	lib/segment/listen_hash.h \
	lib/segment/layout.c \
	lib/segment/layout.h \
	lib/segment/liveness.c \
	lib/segment/liveness.h \
	lib/segment/parts.c \
	lib/segment/parts.def \
	lib/segment/parts.h \
	lib/segment/reader.c \
	lib/segment/reader.h \
	lib/segment/record.h \
	lib/segment/records.def \
	lib/segment/records.h \
	lib/segment/terms.h \
	lib/segment/traceparent.c \
	lib/segment/traceparent.h \
	lib/write/attach.c \
	lib/write/board.c \
	lib/write/board.h \
	lib/write/build.h \
	lib/write/busy.c \
	lib/write/busy.h \
	lib/write/call_stack.c \
	lib/write/call_stack.h \
	lib/write/fork_table.c \
	lib/write/fork_table.h \
	lib/write/guard.c \
	lib/write/guard.h \
	lib/write/journal.c \
	lib/write/journal.h \
	lib/write/label.c \
	lib/write/path.c \
	lib/write/path.h \
	lib/write/pools.c \
	lib/write/pools.h \
	lib/write/process.c \
	lib/write/worker.h \
	lib/read/accept_queue.c \
	lib/read/accept_queue.h \
	lib/read/allowance.c \
	lib/read/allowance.h \
	lib/read/call_place.c \
	lib/read/call_place.h \
	lib/read/component.c \
	lib/read/component.def \
	lib/read/component.h \
	lib/read/copy.c \
	lib/read/copy.h \
	lib/read/directory.c \
	lib/read/directory.h \
	lib/read/exemplars.c \
	lib/read/exemplars.h \
	lib/read/present.c \
	lib/read/present.h \
	lib/read/snapshot.c \
	lib/read/snapshot.h \
	lib/read/snapshot_draft.c \
	lib/read/snapshot_draft.h \
	lib/read/snapshot_fields.c \
	lib/read/snapshot_labels.c \
	lib/read/snapshot_wanted.c \
	lib/read/snapshot_workers.c \
	lib/read/sock_diag.c \
	lib/read/sock_diag.h \
	lib/read/split.c \
	lib/read/split.h \
	lib/read/tail.c \
	lib/read/tail.h \
	lib/read/window.c \
	lib/read/window.h
render_sources = \
	lib/render/answer.c \
	lib/render/answer.h \
	lib/render/cursor.c \
	lib/render/cursor.h \
	lib/render/fields_table.c \
	lib/render/fields_table.h \
	lib/render/figures.c \
	lib/render/figures.h \
	lib/render/held.c \
	lib/render/held.h \
	lib/render/html.c \
	lib/render/journal.c \
	lib/render/journal.h \
	lib/render/journal_line.c \
	lib/render/journal_line.h \
	lib/render/json.c \
	lib/render/json_writer.c \
	lib/render/json_writer.h \
	lib/render/message.c \
	lib/render/message.h \
	lib/render/metrics.c \
	lib/render/metrics.h \
	lib/render/negotiate.c \
	lib/render/negotiate.h \
	lib/render/openmetrics.c \
	lib/render/protobuf.c \
	lib/render/render.c \
	lib/render/render.h \
	lib/render/scope.c \
	lib/render/scope.h \
	lib/render/script.c \
	lib/render/script.h \
	lib/render/sink.c \
	lib/render/sink.h \
	lib/render/text.c

# The pages' styles and scripts, as C strings. The report embeds the first two, too.
embed = $(SHELL) $(srcdir)/lib/render/embed
render_assets = $(srcdir)/lib/render/assets
shared_assets = colours_css=$(render_assets)/colours.css pieces_js=$(render_assets)/pieces.js \
	parts_js=lib/render/parts.js
status_assets = status_css=$(render_assets)/status.css bands_js=$(render_assets)/bands.js \
	minute_js=$(render_assets)/minute.js status_js=$(render_assets)/status.js
render_asset_files = \
	lib/render/assets/bands.js \
	lib/render/assets/colours.css \
	lib/render/assets/minute.js \
	lib/render/assets/parts.js.in \
	lib/render/assets/pieces.js \
	lib/render/assets/status.css \
	lib/render/assets/status.js
BUILT_SOURCES += lib/render/assets.inc
CLEANFILES += lib/render/parts.js
EXTRA_DIST += lib/render/embed $(render_asset_files)
lib/render/parts.js: lib/render/assets/parts.js.in lib/segment/parts.def
	@$(MKDIR_P) lib/render
	$(AM_V_GEN)$(CC) -E -P -I$(srcdir)/lib -x c $(render_assets)/parts.js.in >$@.part && \
		mv $@.part $@
lib/render/assets.inc: lib/render/embed $(render_asset_files) lib/render/parts.js
	@$(MKDIR_P) lib/render
	$(AM_V_GEN)$(embed) $(shared_assets) $(status_assets) >$@.part && mv $@.part $@

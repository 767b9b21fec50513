# The tool, mpmstat. The lab has a fragment of its own.

bin_PROGRAMS = mpmstat
mpmstat_SOURCES = tools/cli/main.c
mpmstat_CPPFLAGS = $(TOOL_CPPFLAGS)
mpmstat_LDADD = libmpmstat-tool.la

# Everything except main(), so that the tests can link it.
noinst_LTLIBRARIES += libmpmstat-tool.la
libmpmstat_tool_la_CPPFLAGS = $(TOOL_CPPFLAGS) $(CURSES_CFLAGS)
libmpmstat_tool_la_LIBADD = libmpmstat.la $(APR_LIBS) $(CURL_LIBS) $(CURSES_LIBS) $(GNUTLS_LIBS) \
	$(JANSSON_LIBS) $(MICROHTTPD_LIBS) $(SQLITE_LIBS) -lm
libmpmstat_tool_la_SOURCES = \
	tools/analysis/account.c \
	tools/analysis/analyse.c \
	tools/analysis/at_limit.c \
	tools/analysis/at_limit.h \
	tools/analysis/bottleneck.c \
	tools/analysis/bottleneck.h \
	tools/analysis/by_name.c \
	tools/analysis/by_name.h \
	tools/analysis/checks.c \
	tools/analysis/compare.c \
	tools/analysis/compare.h \
	tools/analysis/compare_runs.c \
	tools/analysis/compare_runs.h \
	tools/analysis/code_bill.c \
	tools/analysis/code_bill.h \
	tools/analysis/codes.def \
	tools/analysis/configured.c \
	tools/analysis/configured.h \
	tools/analysis/finding.c \
	tools/analysis/finding.h \
	tools/analysis/join_client.c \
	tools/analysis/kept.c \
	tools/analysis/kept.h \
	tools/analysis/ledger.c \
	tools/analysis/ledger.h \
	tools/analysis/ledger_rows.c \
	tools/analysis/ledger_rows.h \
	tools/analysis/requests.c \
	tools/analysis/requests.h \
	tools/analysis/model.c \
	tools/analysis/name_table.c \
	tools/analysis/name_table.h \
	tools/analysis/need.c \
	tools/analysis/need.h \
	tools/analysis/only_apache.c \
	tools/analysis/php_code.c \
	tools/analysis/php_code.h \
	tools/analysis/read.c \
	tools/analysis/read_generators.c \
	tools/analysis/read_at_once.c \
	tools/analysis/read_ends.c \
	tools/analysis/read_php_cgi.c \
	tools/analysis/read_requests.c \
	tools/analysis/read_resources.c \
	tools/analysis/read_servers.c \
	tools/analysis/resources.c \
	tools/analysis/resources.h \
	tools/analysis/run_requests.h \
	tools/analysis/sequence.c \
	tools/analysis/sequence.h \
	tools/analysis/series.h \
	tools/analysis/series_bins.c \
	tools/analysis/series_requests.c \
	tools/analysis/series_resources.c \
	tools/analysis/series_samples.c \
	tools/analysis/slowest.c \
	tools/analysis/slowest.h \
	tools/analysis/steadiness.c \
	tools/analysis/steps.h \
	tools/analysis/summary.h \
	tools/analysis/table.c \
	tools/analysis/table.h \
	tools/analysis/thresholds.h \
	tools/analysis/trend.c \
	tools/analysis/trend.h \
	tools/analysis/usl.c \
	tools/analysis/usl.h \
	tools/archive/archive.c \
	tools/archive/archive.h \
	tools/archive/batch.c \
	tools/archive/copier.c \
	tools/archive/guard.c \
	tools/archive/guard.h \
	tools/archive/internal.h \
	tools/archive/query.c \
	tools/archive/query.h \
	tools/archive/reader.c \
	tools/archive/rows.c \
	tools/archive/rows_config.c \
	tools/archive/rows_server.c \
	tools/archive/rows_study.c \
	tools/archive/schema.c \
	tools/archive/slice.c \
	tools/archive/slice.h \
	tools/archive/statements.c \
	tools/archive/states.c \
	tools/archive/states.h \
	tools/archive/thin.c \
	tools/archive/thin.h \
	tools/archive/thin_choose.c \
	tools/archive/thin_choose.h \
	tools/archive/thin_subjects.c \
	tools/archive/thin_subjects.h \
	tools/archive/wal.c \
	tools/archive/weights.c \
	tools/archive/writer.c \
	tools/archive/writer.h \
	tools/capacity/search.c \
	tools/capacity/search.h \
	tools/cli/capacity_levels.c \
	tools/cli/capacity_levels.h \
	tools/cli/export_options.c \
	tools/cli/export_options.h \
	tools/cli/exit_by_finding.c \
	tools/cli/exit_by_finding.h \
	tools/cli/quantities.c \
	tools/cli/quantities.h \
	tools/cli/record_pairs.c \
	tools/cli/record_pairs.h \
	tools/cli/record_runs.c \
	tools/cli/record_runs.h \
	tools/cli/record_warm_up.c \
	tools/cli/record_warm_up.h \
	tools/cli/report_options.c \
	tools/cli/report_options.h \
	tools/cli/study_reports.h \
	tools/cli/target_options.h \
	tools/cli/text_options.c \
	tools/cli/target_options.h \
	tools/cli/text_options.h \
	tools/cli/verb_capacity.c \
	tools/cli/verb_compare.c \
	tools/cli/verb_explain.c \
	tools/cli/verb_export.c \
	tools/cli/verb_fields.c \
	tools/cli/verb_import.c \
	tools/cli/verb_record.c \
	tools/cli/verb_report.c \
	tools/cli/verb_serve.c \
	tools/cli/verb_status.c \
	tools/cli/verb_top.c \
	tools/cli/verb_whatif.c \
	tools/cli/verbs.h \
	tools/cli/words.c \
	tools/cli/words.def \
	tools/cli/words.h \
	tools/console/diag.c \
	tools/console/diag.h \
	tools/console/format.c \
	tools/console/format.h \
	tools/console/nearest.c \
	tools/console/nearest.h \
	tools/console/number.c \
	tools/console/number.h \
	tools/console/options.h \
	tools/console/output.c \
	tools/console/output.h \
	tools/console/replace.c \
	tools/console/replace.h \
	tools/console/stop.c \
	tools/console/stop.h \
	tools/console/style.c \
	tools/console/style.h \
	tools/doc/bar.c \
	tools/doc/bar.h \
	tools/doc/doc.c \
	tools/doc/doc.h \
	tools/doc/lines.c \
	tools/doc/lines.h \
	tools/doc/markup.c \
	tools/doc/markup.h \
	tools/doc/quantity.c \
	tools/doc/quantity.h \
	tools/doc/table.c \
	tools/doc/table.h \
	tools/doc/table_html.c \
	tools/doc/table_markdown.c \
	tools/doc/table_text.c \
	tools/doc/writers.h \
	tools/exec/capture.c \
	tools/exec/capture.h \
	tools/exec/runner.c \
	tools/exec/runner.h \
	tools/exec/shell_quote.c \
	tools/exec/shell_quote.h \
	tools/exec/spawn.c \
	tools/exec/spawn.h \
	tools/exec/supervise.c \
	tools/exec/supervise.h \
	tools/explain/cpus.c \
	tools/explain/down.c \
	tools/explain/explain.c \
	tools/explain/explain.h \
	tools/explain/now.c \
	tools/explain/occupancy.c \
	tools/explain/occupancy.h \
	tools/explain/past.c \
	tools/explain/show.c \
	tools/explain/steps.h \
	tools/explain/stuck.c \
	tools/export/export.c \
	tools/export/export.h \
	tools/export/follow.c \
	tools/export/follow.h \
	tools/export/metrics.c \
	tools/export/metrics.h \
	tools/export/otlp.c \
	tools/export/otlp.h \
	tools/export/post.c \
	tools/export/post.h \
	tools/export/request.c \
	tools/export/request.h \
	tools/export/spans.c \
	tools/export/spans.h \
	tools/findings/accepted.c \
	tools/findings/accepted.h \
	tools/findings/plan.c \
	tools/findings/plan.h \
	tools/findings/budget.c \
	tools/findings/budget.h \
	tools/findings/chains.c \
	tools/findings/chains.h \
	tools/findings/change.c \
	tools/findings/change.h \
	tools/findings/client.c \
	tools/findings/cold.c \
	tools/findings/cpu.c \
	tools/findings/cpu.h \
	tools/findings/demand.c \
	tools/findings/down.c \
	tools/findings/demand.h \
	tools/findings/failed.c \
	tools/findings/findings.c \
	tools/findings/findings.h \
	tools/findings/fleet.c \
	tools/findings/fleet.h \
	tools/findings/foresight.c \
	tools/findings/foresight.h \
	tools/findings/halted.c \
	tools/findings/held.c \
	tools/findings/holder.c \
	tools/findings/holder.h \
	tools/findings/in_code.c \
	tools/findings/in_code.h \
	tools/findings/inquiry.c \
	tools/findings/inquiry.h \
	tools/findings/machine.c \
	tools/findings/needs.c \
	tools/findings/needs.h \
	tools/findings/odd.c \
	tools/findings/own_end.c \
	tools/findings/own_end.h \
	tools/findings/outage.h \
	tools/findings/rules.h \
	tools/findings/say.h \
	tools/findings/sentences.c \
	tools/findings/sentences.h \
	tools/findings/sentences_around.c \
	tools/findings/sentences_failed.c \
	tools/findings/sentences_machine.c \
	tools/findings/serial.c \
	tools/findings/serial.h \
	tools/findings/settings.c \
	tools/findings/advice.c \
	tools/findings/advice.h \
	tools/findings/stall.c \
	tools/findings/tail.c \
	tools/findings/unanswered.c \
	tools/findings/waited.c \
	tools/findings/when.c \
	tools/findings/when.h \
	tools/findings/without.c \
	tools/findings/workers.c \
	tools/loadtools/ab.c \
	tools/loadtools/generic.c \
	tools/loadtools/h2load.c \
	tools/loadtools/hey.c \
	tools/loadtools/k6.c \
	tools/loadtools/level.c \
	tools/loadtools/level.h \
	tools/loadtools/loadtool.h \
	tools/loadtools/loadtools.c \
	tools/loadtools/locust.c \
	tools/loadtools/oha.c \
	tools/loadtools/plan.c \
	tools/loadtools/rows.c \
	tools/loadtools/siege.c \
	tools/loadtools/text.c \
	tools/loadtools/text.h \
	tools/loadtools/tsung.c \
	tools/loadtools/vegeta.c \
	tools/loadtools/wrk.c \
	tools/model/arrivals.c \
	tools/model/building.h \
	tools/model/change.c \
	tools/model/change.h \
	tools/model/enough.c \
	tools/model/enough.h \
	tools/model/event_queue.c \
	tools/model/event_queue.h \
	tools/model/fit.c \
	tools/model/fit.h \
	tools/model/forecast.c \
	tools/model/forecast.h \
	tools/model/limits.c \
	tools/model/note.c \
	tools/model/note.h \
	tools/model/predict.c \
	tools/model/predict.h \
	tools/model/recorded.c \
	tools/model/recorded.h \
	tools/model/simulate.c \
	tools/model/simulate.h \
	tools/model/system.h \
	tools/model/unseen.c \
	tools/model/works.c \
	tools/record/generator_clock.c \
	tools/record/generator_clock.h \
	tools/memory/pool.c \
	tools/memory/pool.h \
	tools/record/environment.c \
	tools/record/environment.h \
	tools/record/generators.c \
	tools/record/generators.h \
	tools/record/limits.h \
	tools/record/live.c \
	tools/record/live.h \
	tools/record/load.c \
	tools/record/load.h \
	tools/record/recording.c \
	tools/record/recording.h \
	tools/record/recording_after.c \
	tools/record/recording_archive.c \
	tools/record/recording_before.c \
	tools/record/recording_load.c \
	tools/record/recording_looks.c \
	tools/record/recording_steps.h \
	tools/record/recording_targets.c \
	tools/record/rotation.c \
	tools/record/rotation.h \
	tools/record/sampler.c \
	tools/record/sampler.h \
	tools/record/sampler_notes.c \
	tools/record/sampler_notes.h \
	tools/record/steady.c \
	tools/record/steady.h \
	tools/record/thinning.c \
	tools/record/thinning.h \
	tools/report/capacity.c \
	tools/report/capacity.h \
	tools/report/cells.c \
	tools/report/cells.h \
	tools/report/changes_json.c \
	tools/report/changes_json.h \
	tools/report/code.c \
	tools/report/code.h \
	tools/report/comparison.c \
	tools/report/comparison.h \
	tools/report/comparison_change.c \
	tools/report/comparison_differences.c \
	tools/report/comparison_ledger.c \
	tools/report/comparison_ledger.h \
	tools/report/comparison_names.c \
	tools/report/comparison_output.c \
	tools/report/comparison_sentence.c \
	tools/report/comparison_steps.h \
	tools/report/advice.c \
	tools/report/advice.h \
	tools/report/csv.c \
	tools/report/curve.c \
	tools/report/curve.h \
	tools/report/data.c \
	tools/report/findings_text.c \
	tools/report/generators.c \
	tools/report/generators.h \
	tools/report/glance.c \
	tools/report/glance.h \
	tools/report/groups.c \
	tools/report/groups.h \
	tools/report/html.c \
	tools/report/html_capacity.c \
	tools/report/html_compare.c \
	tools/report/html_compare.h \
	tools/report/slowest.c \
	tools/report/slowest.h \
	tools/report/html_run.c \
	tools/report/html_run.h \
	tools/report/html_trend.c \
	tools/report/html_verdict.c \
	tools/report/html_whatif.c \
	tools/report/html_verdict.h \
	tools/report/items.c \
	tools/report/items.h \
	tools/doc/lines.h \
	tools/report/markdown.c \
	tools/doc/markup.h \
	tools/report/metrics.c \
	tools/report/needs.c \
	tools/report/needs.h \
	tools/report/metrics.def \
	tools/report/metrics.h \
	tools/report/page.c \
	tools/report/names.c \
	tools/report/names.h \
	tools/report/page.h \
	tools/report/report.h \
	tools/report/resources.h \
	tools/report/resources_json.c \
	tools/report/resources_text.c \
	tools/report/parts.c \
	tools/report/parts.h \
	tools/report/pools.c \
	tools/report/profile.c \
	tools/report/profile.h \
	tools/report/provenance.c \
	tools/report/provenance.h \
	tools/report/runs.c \
	tools/report/servers.c \
	tools/report/servers.h \
	tools/report/side_by_side.c \
	tools/report/side_by_side.h \
	tools/report/sides.c \
	tools/report/sides.h \
	tools/report/summary_json.c \
	tools/report/summary_phases.c \
	tools/report/summary_text.c \
	tools/report/summary_text.h \
	tools/report/trend.c \
	tools/report/trend.h \
	tools/report/whatif.c \
	tools/report/whatif.h \
	tools/serve/address.c \
	tools/serve/address.h \
	tools/serve/clients.c \
	tools/serve/clients.h \
	tools/serve/daemon.c \
	tools/serve/daemon.h \
	tools/serve/look.c \
	tools/serve/look.h \
	tools/serve/pages.c \
	tools/serve/pages.h \
	tools/serve/secrets.c \
	tools/serve/secrets.h \
	tools/serve/serve.c \
	tools/serve/serve.h \
	tools/serve/telemetry.c \
	tools/serve/telemetry.h \
	tools/source/board_source.c \
	tools/source/http.c \
	tools/source/http.h \
	tools/source/http_curl.h \
	tools/source/http_errors.c \
	tools/source/http_errors.h \
	tools/source/http_source.c \
	tools/source/ndjson.c \
	tools/source/ndjson.h \
	tools/source/ndjson_members.c \
	tools/source/ndjson_members.h \
	tools/source/open.c \
	tools/source/remote_clock.c \
	tools/source/remote_clock.h \
	tools/source/sample.c \
	tools/source/source.c \
	tools/source/source.h \
	tools/source/source_kind.h \
	tools/source/status_json.c \
	tools/source/status_json.h \
	tools/source/target.c \
	tools/source/target.h \
	tools/source/target_file.c \
	tools/source/target_file.h \
	tools/source/target_open.c \
	tools/stats/bootstrap.c \
	tools/stats/bootstrap.h \
	tools/stats/distribution.c \
	tools/stats/distribution.h \
	tools/stats/names.c \
	tools/stats/names.h \
	tools/stats/quantile.c \
	tools/stats/quantile.h \
	tools/stats/random.c \
	tools/stats/random.h \
	tools/system/cgroup.c \
	tools/system/cgroup.h \
	tools/system/config.c \
	tools/system/config.h \
	tools/system/config_fpm.c \
	tools/system/config_httpd.c \
	tools/system/machine.c \
	tools/system/machine.h \
	tools/system/owner.c \
	tools/system/owner.h \
	tools/system/ownership.c \
	tools/system/ownership.h \
	tools/system/ports.c \
	tools/system/ports.h \
	tools/system/preflight.c \
	tools/system/preflight.h \
	tools/system/proc.c \
	tools/system/proc.h \
	tools/system/processes.c \
	tools/system/processes.h \
	tools/system/programs.c \
	tools/system/programs.h \
	tools/system/uninstrumented.c \
	tools/system/uninstrumented.h \
	tools/top/counts.c \
	tools/top/counts.h \
	tools/top/events.c \
	tools/top/events.h \
	tools/top/model.c \
	tools/top/model.h \
	tools/top/recorder.c \
	tools/top/recorder.h \
	tools/top/rows.c \
	tools/top/rows.h \
	tools/top/terminal.c \
	tools/top/terminal.h \
	tools/top/text.c \
	tools/top/text.h \
	tools/top/top.c \
	tools/top/top.h \
	tools/top/view.c \
	tools/top/view.h \
	tools/top/watch.c \
	tools/top/watch.h

# The locustfile that makes each process of Locust write its requests, for mpmstat import.
locustdir = $(pkgdatadir)/locust
dist_locust_DATA = contrib/locust/mpmstat_rows.py

# What a CI calls: contrib/ci/README.md. The action and the job for GitLab call the same scripts.
cidir = $(pkgdatadir)/ci
dist_ci_SCRIPTS = contrib/ci/comment-github.sh contrib/ci/comment-gitlab.sh contrib/ci/measure.sh
EXTRA_DIST += contrib/container/build.sh contrib/container/install.sh contrib/container/start.sh

# What mpmstat VERB --help prints, as C string literals.
help_texts = \
	tools/cli/help/capacity.txt \
	tools/cli/help/compare.txt \
	tools/cli/help/explain.txt \
	tools/cli/help/export.txt \
	tools/cli/help/fields.txt \
	tools/cli/help/import.txt \
	tools/cli/help/lab.txt \
	tools/cli/help/record.txt \
	tools/cli/help/report.txt \
	tools/cli/help/serve.txt \
	tools/cli/help/status.txt \
	tools/cli/help/top.txt \
	tools/cli/help/whatif.txt \
	tools/lab/study/help.txt
SUFFIXES = .txt .inc
BUILT_SOURCES += $(help_texts:.txt=.inc)
EXTRA_DIST += $(help_texts)
.txt.inc:
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< >$@

# The options that these texts list, for getopt_long(): see console/options.h.
SUFFIXES += .opt
options_awk = tools/console/options.awk
BUILT_SOURCES += $(help_texts:.txt=.opt) tools/console/options.inc
EXTRA_DIST += $(options_awk)
.txt.opt:
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(AWK) -f $(srcdir)/$(options_awk) $< >$@
$(help_texts:.txt=.opt): $(options_awk)
tools/console/options.inc: $(help_texts) $(options_awk)
	@$(MKDIR_P) tools/console
	$(AM_V_GEN)cd $(srcdir) && $(AWK) -v numbers=1 -f $(options_awk) $(help_texts) \
		>$(abs_builddir)/$@

# The archive's schema as a C string literal, made from the file that documents it.
BUILT_SOURCES += tools/archive/schema.inc
EXTRA_DIST += tools/archive/schema.sql
tools/archive/schema.inc: tools/archive/schema.sql
	@$(MKDIR_P) tools/archive
	$(AM_V_GEN)$(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $(srcdir)/tools/archive/schema.sql >$@

# The pragmas that tell an archive and its version, as MST_ARCHIVE_ID and MST_ARCHIVE_VERSION.
BUILT_SOURCES += tools/archive/version.inc
tools/archive/version.inc: tools/archive/schema.sql
	@$(MKDIR_P) tools/archive
	$(AM_V_GEN)$(SED) -n \
		-e 's/^PRAGMA application_id = \(.*\);.*/#define MST_ARCHIVE_ID \1/p' \
		-e 's/^PRAGMA user_version = \(.*\);.*/#define MST_ARCHIVE_VERSION \1/p' \
		$(srcdir)/tools/archive/schema.sql >$@

# The schema's tables and columns by name: the values that are bound to a row, in their order.
archive_columns = tools/archive/columns.inc tools/archive/column_names.inc
BUILT_SOURCES += $(archive_columns)
EXTRA_DIST += tools/archive/columns.awk
$(archive_columns): tools/archive/schema.sql tools/archive/columns.awk
tools/archive/columns.inc:
	@$(MKDIR_P) tools/archive
	$(AM_V_GEN)$(AWK) -f $(srcdir)/tools/archive/columns.awk \
		$(srcdir)/tools/archive/schema.sql >$@
tools/archive/column_names.inc:
	@$(MKDIR_P) tools/archive
	$(AM_V_GEN)$(AWK) -v names=1 -f $(srcdir)/tools/archive/columns.awk \
		$(srcdir)/tools/archive/schema.sql >$@

# The scripts and styles of the reports, with the library that draws the charts.
report_assets = $(srcdir)/tools/report/assets
report_asset_files = \
	tools/report/assets/charts.js \
	tools/report/assets/flame.js \
	tools/report/assets/report.css \
	tools/report/assets/report.js \
	tools/report/assets/study.js
BUILT_SOURCES += tools/report/assets.inc
EXTRA_DIST += $(report_asset_files)
tools/report/assets.inc: lib/render/embed $(render_asset_files) lib/render/parts.js $(report_asset_files) $(CHART_JS)
	@$(MKDIR_P) tools/report
	$(AM_V_GEN)$(embed) $(shared_assets) chart_js='$(CHART_JS)' \
		report_css=$(report_assets)/report.css charts_js=$(report_assets)/charts.js \
		report_js=$(report_assets)/report.js study_js=$(report_assets)/study.js \
		flame_js=$(report_assets)/flame.js \
		>$@.part && mv $@.part $@

EXTRA_DIST += tools/quickstart tools/quickstart.d

# The units that start mpmstat serve and mpmstat record. They are installed, and not enabled.
serve_unit = tools/serve/mpmstat-serve.service
record_unit = tools/record/mpmstat-record.service
EXTRA_DIST += $(serve_unit).in $(record_unit).in
CLEANFILES += $(serve_unit) $(record_unit)
with_bindir = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's|[@]bindir[@]|$(bindir)|'
$(serve_unit): tools/serve/mpmstat-serve.service.in Makefile
	$(with_bindir) $(srcdir)/$(serve_unit).in >$@
$(record_unit): tools/record/mpmstat-record.service.in Makefile
	$(with_bindir) $(srcdir)/$(record_unit).in >$@
if WITH_SYSTEMD_UNIT
nodist_systemdsystemunit_DATA = $(serve_unit) $(record_unit)
endif

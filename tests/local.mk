# Tests: unit tests, fuzz targets, integration tests, benches. make check is all of it.

# Each unit test has a main() of its own; this library has the code that they share.
libmpmstat_test_la_SOURCES = \
	tests/unit/boards.c \
	tests/unit/boards.h \
	tests/unit/harness.c \
	tests/unit/harness.h \
	tests/unit/made_run.c \
	tests/unit/made_run.h
UNIT_TESTS = \
	tests/unit/check_accepted \
	tests/unit/check_archive \
	tests/unit/check_archive_hostile \
	tests/unit/check_archive_readers \
	tests/unit/check_archive_refusals \
	tests/unit/check_attach \
	tests/unit/check_board \
	tests/unit/check_busy \
	tests/unit/check_capacity \
	tests/unit/check_cgroup \
	tests/unit/check_chains \
	tests/unit/check_change \
	tests/unit/check_compare \
	tests/unit/check_config \
	tests/unit/check_directory \
	tests/unit/check_explain \
	tests/unit/check_export \
	tests/unit/check_findings \
	tests/unit/check_generators \
	tests/unit/check_guard \
	tests/unit/check_handover \
	tests/unit/check_histogram \
	tests/unit/check_hostile \
	tests/unit/check_journal \
	tests/unit/check_items \
	tests/unit/check_journal_unfinished \
	tests/unit/check_json_writer \
	tests/unit/check_labels \
	tests/unit/check_ledger \
	tests/unit/check_live \
	tests/unit/check_liveness \
	tests/unit/check_loadtools \
	tests/unit/check_memory \
	tests/unit/check_metrics \
	tests/unit/check_needs \
	tests/unit/check_negotiate \
	tests/unit/check_output \
	tests/unit/check_call_stacks \
	tests/unit/check_components \
	tests/unit/check_paths \
	tests/unit/check_pool \
	tests/unit/check_preflight \
	tests/unit/check_present \
	tests/unit/check_processes \
	tests/unit/check_processes_memory \
	tests/unit/check_quantile \
	tests/unit/check_render \
	tests/unit/check_render_fields \
	tests/unit/check_report \
	tests/unit/check_requests \
	tests/unit/check_rotation \
	tests/unit/check_runner \
	tests/unit/check_sequence \
	tests/unit/check_serve \
	tests/unit/check_sink \
	tests/unit/check_sizing \
	tests/unit/check_simulate \
	tests/unit/check_snapshot \
	tests/unit/check_snapshot_wanted \
	tests/unit/check_snapshot_workers \
	tests/unit/check_source_file \
	tests/unit/check_source_http \
	tests/unit/check_source_http_back \
	tests/unit/check_source_poll \
	tests/unit/check_stop \
	tests/unit/check_summary \
	tests/unit/check_summary_php \
	tests/unit/check_summary_resources \
	tests/unit/check_summary_text \
	tests/unit/check_tail \
	tests/unit/check_tail_missing \
	tests/unit/check_target \
	tests/unit/check_thin \
	tests/unit/check_top \
	tests/unit/check_trend \
	tests/unit/check_usl \
	tests/unit/check_verdicts \
	tests/unit/check_window \
	tests/unit/check_words \
	tests/unit/stress_board

LAB_UNIT_TESTS = tests/unit/check_lab tests/unit/check_study tests/unit/check_study_report
if WITH_LAB
UNIT_TESTS += $(LAB_UNIT_TESTS)
endif

# What two tests share, each pair its own.
unit_shared = tests/unit/child_processes.c tests/unit/child_processes.h \
	tests/unit/followed.c tests/unit/followed.h \
	tests/unit/http_answers.c tests/unit/http_answers.h \
	tests/unit/journal_client.c tests/unit/journal_client.h \
	tests/unit/made_archive.c tests/unit/made_archive.h \
	tests/unit/made_report.c tests/unit/made_report.h \
	tests/unit/predicted.c tests/unit/predicted.h \
	tests/unit/random_draws.c tests/unit/random_draws.h \
	tests/unit/rendered.c tests/unit/rendered.h \
	tests/unit/snapped.c tests/unit/snapped.h \
	tests/unit/written_board.c tests/unit/written_board.h
tests_unit_check_archive_SOURCES = tests/unit/check_archive.c \
	tests/unit/made_archive.c tests/unit/made_archive.h
tests_unit_check_archive_hostile_SOURCES = tests/unit/check_archive_hostile.c \
	tests/unit/predicted.c tests/unit/predicted.h
tests_unit_check_archive_readers_SOURCES = tests/unit/check_archive_readers.c \
	tests/unit/made_archive.c tests/unit/made_archive.h
tests_unit_check_archive_refusals_SOURCES = tests/unit/check_archive_refusals.c \
	tests/unit/made_archive.c tests/unit/made_archive.h
tests_unit_check_render_SOURCES = tests/unit/check_render.c \
	tests/unit/rendered.c tests/unit/rendered.h
tests_unit_check_render_fields_SOURCES = tests/unit/check_render_fields.c \
	tests/unit/rendered.c tests/unit/rendered.h
tests_unit_check_journal_SOURCES = tests/unit/check_journal.c \
	tests/unit/journal_client.c tests/unit/journal_client.h
tests_unit_check_journal_unfinished_SOURCES = tests/unit/check_journal_unfinished.c \
	tests/unit/journal_client.c tests/unit/journal_client.h
tests_unit_check_snapshot_SOURCES = tests/unit/check_snapshot.c \
	tests/unit/snapped.c tests/unit/snapped.h
tests_unit_check_snapshot_wanted_SOURCES = tests/unit/check_snapshot_wanted.c \
	tests/unit/snapped.c tests/unit/snapped.h
tests_unit_check_snapshot_workers_SOURCES = tests/unit/check_snapshot_workers.c \
	tests/unit/snapped.c tests/unit/snapped.h
tests_unit_check_report_SOURCES = tests/unit/check_report.c \
	tests/unit/made_report.c tests/unit/made_report.h
tests_unit_check_needs_SOURCES = tests/unit/check_needs.c \
	tests/unit/made_report.c tests/unit/made_report.h
tests_unit_check_compare_SOURCES = tests/unit/check_compare.c \
	tests/unit/random_draws.c tests/unit/random_draws.h
tests_unit_check_sequence_SOURCES = tests/unit/check_sequence.c \
	tests/unit/random_draws.c tests/unit/random_draws.h
tests_unit_check_trend_SOURCES = tests/unit/check_trend.c \
	tests/unit/random_draws.c tests/unit/random_draws.h
tests_unit_check_sizing_SOURCES = tests/unit/check_sizing.c \
	tests/unit/made_report.c tests/unit/made_report.h
tests_unit_check_source_file_SOURCES = tests/unit/check_source_file.c \
	tests/unit/written_board.c tests/unit/written_board.h
tests_unit_check_source_poll_SOURCES = tests/unit/check_source_poll.c \
	tests/unit/written_board.c tests/unit/written_board.h
tests_unit_check_processes_SOURCES = tests/unit/check_processes.c \
	tests/unit/child_processes.c tests/unit/child_processes.h
tests_unit_check_processes_memory_SOURCES = tests/unit/check_processes_memory.c \
	tests/unit/child_processes.c tests/unit/child_processes.h
tests_unit_check_source_http_SOURCES = tests/unit/check_source_http.c \
	tests/unit/http_answers.c tests/unit/http_answers.h
tests_unit_check_source_http_back_SOURCES = tests/unit/check_source_http_back.c \
	tests/unit/http_answers.c tests/unit/http_answers.h
tests_unit_check_tail_SOURCES = tests/unit/check_tail.c \
	tests/unit/followed.c tests/unit/followed.h
tests_unit_check_tail_missing_SOURCES = tests/unit/check_tail_missing.c \
	tests/unit/followed.c tests/unit/followed.h

# This test counts how often a search for a label yields to another thread, and what happens then.
tests_unit_check_labels_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sched_yield

# This test changes the board between two reads of the reader, and counts allocations.
tests_unit_check_journal_unfinished_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mst_reader_read \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=aligned_alloc

# Fuzz targets: make check runs them over the corpus, make fuzz with new inputs.
FUZZ_TARGETS = \
	tests/fuzz/fuzz_archive \
	tests/fuzz/fuzz_board \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_cursor \
	tests/fuzz/fuzz_handover \
	tests/fuzz/fuzz_loadtools \
	tests/fuzz/fuzz_ndjson \
	tests/fuzz/fuzz_negotiate \
	tests/fuzz/fuzz_path \
	tests/fuzz/fuzz_render \
	tests/fuzz/fuzz_serve \
	tests/fuzz/fuzz_status_json \
	tests/fuzz/fuzz_words \
	tests/fuzz/fuzz_writer
LAB_FUZZ_TARGETS = tests/fuzz/fuzz_study tests/fuzz/fuzz_textfile
if WITH_LAB
FUZZ_TARGETS += $(LAB_FUZZ_TARGETS)
endif
tests_fuzz_fuzz_archive_SOURCES = tests/fuzz/fuzz_archive.c tests/fuzz/replay.c \
	tests/unit/predicted.c tests/unit/predicted.h
tests_fuzz_fuzz_board_SOURCES = tests/fuzz/fuzz_board.c tests/fuzz/replay.c
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c tests/fuzz/replay.c
tests_fuzz_fuzz_cursor_SOURCES = tests/fuzz/fuzz_cursor.c tests/fuzz/replay.c
tests_fuzz_fuzz_handover_SOURCES = tests/fuzz/fuzz_handover.c tests/fuzz/replay.c
tests_fuzz_fuzz_loadtools_SOURCES = tests/fuzz/fuzz_loadtools.c tests/fuzz/replay.c
tests_fuzz_fuzz_ndjson_SOURCES = tests/fuzz/fuzz_ndjson.c tests/fuzz/replay.c
tests_fuzz_fuzz_negotiate_SOURCES = tests/fuzz/fuzz_negotiate.c tests/fuzz/replay.c
tests_fuzz_fuzz_path_SOURCES = tests/fuzz/fuzz_path.c tests/fuzz/replay.c
tests_fuzz_fuzz_render_SOURCES = tests/fuzz/fuzz_render.c tests/fuzz/replay.c
tests_fuzz_fuzz_serve_SOURCES = tests/fuzz/fuzz_serve.c tests/fuzz/replay.c
tests_fuzz_fuzz_status_json_SOURCES = tests/fuzz/fuzz_status_json.c tests/fuzz/replay.c
tests_fuzz_fuzz_study_SOURCES = tests/fuzz/fuzz_study.c tests/fuzz/replay.c
tests_fuzz_fuzz_textfile_SOURCES = tests/fuzz/fuzz_textfile.c tests/fuzz/replay.c
tests_fuzz_fuzz_words_SOURCES = tests/fuzz/fuzz_words.c tests/fuzz/replay.c
tests_fuzz_fuzz_writer_SOURCES = tests/fuzz/fuzz_writer.c tests/fuzz/replay.c
tests_fuzz_seed_board_SOURCES = tests/fuzz/seed_board.c

# The board's test under ThreadSanitizer, which needs all of the code instrumented.
tests_unit_stress_board_tsan_SOURCES = tests/unit/stress_board.c $(board_sources)
tests_unit_stress_board_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_stress_board_tsan_LDADD =

LDADD = libmpmstat-test.la libmpmstat-tool.la $(CHECK_LIBS)
# The unit tests are not check_PROGRAMS: make check would build all of them before anything else. Each
# is built before it runs, and the integration tests, which wait most of the time, run meanwhile: the
# compiler takes what they leave of the CPUs.
EXTRA_PROGRAMS += $(UNIT_TESTS)
$(UNIT_TESTS) tests/unit/stress_board_tsan: CC = nice -n 15 @CC@
if HAVE_CHECK
check_LTLIBRARIES += libmpmstat-test.la
check_PROGRAMS += $(FUZZ_TARGETS) tests/fuzz/seed_board
TESTS += $(UNIT_TESTS)
CLEANFILES += $(UNIT_TESTS)
endif
# make_board writes a board without an Apache, for the integration tests of the tool.
check_PROGRAMS += tests/integration/support/make_board
tests_integration_support_make_board_LDADD = libmpmstat.la
# PHP preloads this library to load an extension that is built with sanitizers. The unused -rpath
# makes libtool build a shared library. It is loaded before the sanitizers, so it is built without.
shallow_bind = tests/integration/support/shallow_bind.la
check_LTLIBRARIES += $(shallow_bind)
tests_integration_support_shallow_bind_la_CFLAGS = $(WARNING_CFLAGS)
tests_integration_support_shallow_bind_la_LDFLAGS = -module -avoid-version -shared -rpath $(libdir)
# Hostile code for a server's workers: a module for Apache, a library for PHP.
hostile_workers = tests/integration/support/chaos.la tests/integration/support/mod_chaos.la
check_LTLIBRARIES += $(hostile_workers)
tests_integration_support_chaos_la_SOURCES = tests/integration/support/chaos.c tests/integration/support/chaos.h
tests_integration_support_chaos_la_CFLAGS = $(WARNING_CFLAGS) -fvisibility=default
tests_integration_support_chaos_la_LDFLAGS = -module -avoid-version -shared -rpath $(libdir)
tests_integration_support_mod_chaos_la_SOURCES = tests/integration/support/mod_chaos.c \
	$(tests_integration_support_chaos_la_SOURCES)
tests_integration_support_mod_chaos_la_CPPFLAGS = $(MODULE_CPPFLAGS)
tests_integration_support_mod_chaos_la_CFLAGS = $(WARNING_CFLAGS)
tests_integration_support_mod_chaos_la_LDFLAGS = -module -avoid-version -shared -rpath $(libdir)
# They write requests, at a given rate and as fast as they can, for the benches of the recording
# and of many CPUs.
check_PROGRAMS += tests/bench/write_requests tests/bench/contention
tests_bench_write_requests_LDADD = libmpmstat.la
tests_bench_contention_LDADD = libmpmstat.la

EXTRA_PROGRAMS += tests/unit/stress_board_tsan
if HAVE_TSAN
CLEANFILES += tests/unit/stress_board_tsan
TESTS += tests/unit/stress_board_tsan
endif
AM_TESTS_ENVIRONMENT = $(TEST_SETTINGS) export $(TEST_NAMES);

# The environment of every test, in C and in Python.
TEST_NAMES = MPMSTAT_SRCDIR MPMSTAT_BUILDDIR MPMSTAT_SANITIZE MPMSTAT_SANITIZE_LIB MPMSTAT_LAB_BUILT \
	APACHE2 APACHE2_MODULES CK_TIMEOUT_MULTIPLIER
TEST_SETTINGS = \
	MPMSTAT_SRCDIR='$(abs_srcdir)' MPMSTAT_BUILDDIR='$(abs_builddir)' \
	MPMSTAT_SANITIZE='$(SANITIZERS)' MPMSTAT_SANITIZE_LIB='$(SANITIZER_PRELOAD)' \
	MPMSTAT_LAB_BUILT='$(with_lab)' \
	APACHE2='$(HTTPD)' APACHE2_MODULES='$(httpd_modules)' CK_TIMEOUT_MULTIPLIER=10;

check_DATA = need-check
.PHONY: need-check need-pytest check-fast check-architecture check-unit check-integration check-exports check-php check-phpt check-fuzz
need-check:
if !HAVE_CHECK
	@echo 'make check needs libcheck (apt-get install check) and a new ./configure' >&2; exit 1
endif
need-pytest:
if !HAVE_PYTEST
	@echo 'make check needs pytest (apt-get install python3-pytest) and a new ./configure' >&2; exit 1
endif

check-local: need-pytest check-exports check-architecture check-php check-phpt check-fuzz check-integration
	$(MAKE) $(AM_MAKEFLAGS) check-verdicts-fast   # behind the others: it takes the CPUs

check-unit: need-check $(BUILT_SOURCES) $(check_LTLIBRARIES) $(check_PROGRAMS)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS

# For the edit loop: unit tests, golden files, parser cases, hostile inputs. It needs no server.
# All is built first: two of these would build the same library at once.
check-fast: all
	$(MAKE) $(AM_MAKEFLAGS) check-unit check-exports check-architecture check-fuzz

# The source against the page of the architecture.
check-architecture: need-pytest all
	@$(PYTHON) $(srcdir)/tests/architecture $(abs_builddir)

# All modules of an Apache share one name space, so the module exports only what it must.
check-exports: mod_mpmstat.la $(phpext_LTLIBRARIES)
	@names=`nm -D --defined-only .libs/mod_mpmstat.so | awk '{ print $$3 }' | sort | xargs`; \
	test "$$names" = 'mpmstat_guard mpmstat_module' || { \
		echo "mod_mpmstat.so exports more than its module record and guard:" $$names >&2; exit 1; }
if WITH_PHP
	@names=`nm -D --defined-only phpapp/ext/.libs/mpmstat.so | awk '{ print $$3 }'`; \
	test "$$names" = get_module || { \
		echo "mpmstat.so exports more than what PHP asks for:" $$names >&2; exit 1; }
endif

check-php:
if WITH_PHP
	@for script in $(workload_scripts); do \
		$(PHP) -n -l $(srcdir)/$$script >/dev/null || exit 1; \
	done
endif

# The extension's own tests, with PHP's runner; not under sanitizers, because PHP has none.
check-phpt: all
if WITH_PHP
	@if test -n '$(SANITIZERS)'; then echo 'phpt: left out under sanitizers' >&2; exit 0; fi; \
	test -n '$(PHP_RUN_TESTS)' || { \
		echo 'make check needs run-tests.php, which comes with the headers of PHP' >&2; exit 1; }; \
	$(SHELL) $(srcdir)/phpapp/ext/tests/run $(PHP) $(PHP_RUN_TESTS) \
		$(abs_builddir)/phpapp/ext/.libs/mpmstat.so $(abs_builddir)/mpmstat \
		$(srcdir)/phpapp/ext/tests
endif

# Every target gets every input: an input for one target can matter to another.
check-fuzz: $(FUZZ_TARGETS)
	@for target in $(FUZZ_TARGETS); do \
		$$target $(srcdir)/tests/fuzz/corpus $(srcdir)/tests/cases || exit 1; \
	done

# PYTEST_ARGS selects tests: make check-integration PYTEST_ARGS='-k prefork -x'. Tests have their
# own servers, ports and directories, and wait most of the time. So with pytest-xdist two tests for
# each CPU run at a time, and then, one after the other, those that are marked `alone`. pytest's
# exit status 5 says that no test was selected.
PYTEST_ARGS =
lab_left_out =
if !WITH_LAB
lab_left_out += --ignore=$(srcdir)/tests/integration/lab
endif
check-integration: need-pytest all tests/integration/support/make_board $(shallow_bind) \
		$(hostile_workers)
	@$(TEST_SETTINGS) export $(TEST_NAMES) PYTHONDONTWRITEBYTECODE=1; \
	parallel=`$(PYTHON) -c 'import os, xdist; print("--dist loadfile -n", 2 * os.cpu_count())' \
		2>/dev/null`; \
	pytest="$(PYTHON) -m pytest -p no:cacheprovider $(lab_left_out) $(srcdir)/tests/integration"; \
	$$pytest -m 'not alone' $$parallel $(PYTEST_ARGS); together=$$?; \
	$$pytest -m alone $(PYTEST_ARGS); alone=$$?; \
	case $$together,$$alone in 0,0 | 0,5 | 5,0) ;; *) exit 1 ;; esac

# The proofs that take too long for make check, for so many seconds or requests.
SOAK_SECONDS = 60
SOAK_REQUESTS = 1000000
soak: need-pytest all
	@$(TEST_SETTINGS) export $(TEST_NAMES); \
	MPMSTAT_SOAK_SECONDS=$(SOAK_SECONDS) MPMSTAT_SOAK_REQUESTS=$(SOAK_REQUESTS) \
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider -s $(PYTEST_ARGS) \
		$(srcdir)/tests/integration/proofs/test_proof_counters.py \
		$(srcdir)/tests/integration/proofs/test_proof_leaks.py

# Runs the integration tests in a build with sanitizers, in the directory sanitizers/.
check-sanitizers: need-pytest
	@$(MKDIR_P) sanitizers && cd sanitizers && \
	{ test -f Makefile || $(abs_srcdir)/configure --quiet --enable-sanitizers; } && \
	$(MAKE) check-unit ASAN_OPTIONS=handle_segv=0:handle_sigbus=0 && \
	$(MAKE) check-integration PYTEST_ARGS='$(PYTEST_ARGS)'

EXTRA_DIST += tests/architecture tests/hard tests/other-php tests/golden tests/cases tests/fuzz/corpus tests/integration tests/bench

# Of whole folders make dist takes what was built there, too.
dist-hook:
	find $(distdir)/tests \( -name '*.o' -o -name '*.lo' -o -name '*.la' -o -name .libs -o \
		-name .deps -o -name .dirstamp -o -name __pycache__ \) \
		-exec rm -rf {} +
	cd $(distdir) && rm -f $(check_PROGRAMS) $(EXTRA_PROGRAMS)

# The lab: whole servers, one text file each, and studies of them.

lab_sources = \
	tools/cli/lab_list.c \
	tools/cli/lab_list.h \
	tools/cli/verb_lab.c \
	tools/lab/files/bodies.c \
	tools/lab/files/claims.c \
	tools/lab/files/expand.c \
	tools/lab/files/expand.h \
	tools/lab/files/outcome.c \
	tools/lab/files/outcome.h \
	tools/lab/files/paths.c \
	tools/lab/files/paths.h \
	tools/lab/files/section.c \
	tools/lab/files/section.h \
	tools/lab/files/stack.c \
	tools/lab/files/stack.h \
	tools/lab/files/study.c \
	tools/lab/files/study.h \
	tools/lab/files/textfile.c \
	tools/lab/files/textfile.h \
	tools/lab/files/variables.c \
	tools/lab/report/cases.c \
	tools/lab/report/cases.h \
	tools/lab/report/claims.c \
	tools/lab/report/estimates.c \
	tools/lab/report/estimates.h \
	tools/lab/report/figures.c \
	tools/lab/report/figures.h \
	tools/lab/report/insights.c \
	tools/lab/report/insights.h \
	tools/lab/report/html.c \
	tools/lab/report/json.c \
	tools/lab/report/lines.c \
	tools/lab/report/markdown.c \
	tools/lab/report/measure.c \
	tools/lab/report/measure.h \
	tools/lab/report/parts.c \
	tools/lab/report/parts.h \
	tools/lab/report/provenance.c \
	tools/lab/report/provenance.h \
	tools/lab/report/published.c \
	tools/lab/report/published.h \
	tools/lab/report/read_study.c \
	tools/lab/report/report.c \
	tools/lab/report/report.h \
	tools/lab/report/spawn_curve.c \
	tools/lab/report/spawn_curve.h \
	tools/lab/report/tables.c \
	tools/lab/report/tables.h \
	tools/lab/report/unmeasured.c \
	tools/lab/servers/supervisor.c \
	tools/lab/servers/supervisor.h \
	tools/lab/servers/contents.c \
	tools/lab/servers/contents.h \
	tools/lab/servers/idle_processes.c \
	tools/lab/servers/idle_processes.h \
	tools/lab/servers/log_end.c \
	tools/lab/servers/log_end.h \
	tools/lab/servers/others.c \
	tools/lab/servers/others.h \
	tools/lab/servers/packages.c \
	tools/lab/servers/packages.h \
	tools/lab/servers/page.c \
	tools/lab/servers/page.h \
	tools/lab/servers/ports.c \
	tools/lab/servers/ports.h \
	tools/lab/servers/sandbox.c \
	tools/lab/servers/sandbox.h \
	tools/lab/servers/scripts.c \
	tools/lab/servers/scripts.h \
	tools/lab/servers/servers.c \
	tools/lab/servers/servers.h \
	tools/lab/servers/site.c \
	tools/lab/servers/site.h \
	tools/lab/servers/site_variables.c \
	tools/lab/servers/test_users.c \
	tools/lab/servers/test_users.h \
	tools/lab/servers/warmup.c \
	tools/lab/servers/warmup.h \
	tools/lab/study/choose.c \
	tools/lab/study/dry_run.c \
	tools/lab/study/lab.h \
	tools/lab/study/needs.c \
	tools/lab/study/options.c \
	tools/lab/study/order.c \
	tools/lab/study/output.c \
	tools/lab/study/plan.c \
	tools/lab/study/plan.h \
	tools/lab/study/progress.c \
	tools/lab/study/ramp.c \
	tools/lab/study/ramp.h \
	tools/lab/study/repetition.c \
	tools/lab/study/repetition.h \
	tools/lab/study/run.c \
	tools/lab/study/run.h \
	tools/lab/study/step.c \
	tools/lab/study/step.h \
	tools/lab/study/store.c

lab_absent_sources = tools/cli/lab_absent.c
if WITH_LAB
libmpmstat_tool_la_SOURCES += $(lab_sources)
else
libmpmstat_tool_la_SOURCES += $(lab_absent_sources)
endif

# The lab's stacks, workloads and studies: text files, which users copy. Makefile.am installs them.
EXTRA_DIST += tools/lab/stacks tools/lab/workloads tools/lab/studies

# A tool that runs from the build tree looks for the lab's files here.
data_tree = share/mpmstat/lab share/mpmstat/workloads share/mpmstat/real
if WITH_LAB
all-local: $(data_tree)
endif
share/mpmstat/lab:
	@$(MKDIR_P) share/mpmstat
	$(AM_V_GEN)$(LN_S) $(abs_srcdir)/tools/lab $@
share/mpmstat/workloads share/mpmstat/real:
	@$(MKDIR_P) share/mpmstat
	$(AM_V_GEN)$(LN_S) $(abs_srcdir)/phpapp/$(@F) $@

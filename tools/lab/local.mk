# The lab: whole servers, one text file each, and studies of them.

libmpmstat_tool_la_SOURCES += \
	tools/lab/files/expand.c \
	tools/lab/files/expand.h \
	tools/lab/files/paths.c \
	tools/lab/files/paths.h \
	tools/lab/files/stack.c \
	tools/lab/files/stack.h \
	tools/lab/files/study.c \
	tools/lab/files/study.h \
	tools/lab/files/textfile.c \
	tools/lab/files/textfile.h \
	tools/lab/report/study_claims.c \
	tools/lab/report/study_data.c \
	tools/lab/report/study_data.h \
	tools/lab/report/study_figures.c \
	tools/lab/report/study_html.c \
	tools/lab/report/study_json.c \
	tools/lab/report/study_markdown.c \
	tools/lab/report/study_metrics.c \
	tools/lab/report/study_metrics.h \
	tools/lab/report/study_parts.c \
	tools/lab/report/study_parts.h \
	tools/lab/report/study_report.c \
	tools/lab/report/study_report.h \
	tools/lab/report/study_sayings.c \
	tools/lab/report/study_sayings.h \
	tools/lab/report/study_spawn.c \
	tools/lab/report/study_spawn.h \
	tools/lab/report/study_unseen.c \
	tools/lab/servers/supervisor.c \
	tools/lab/servers/supervisor.h \
	tools/lab/servers/others.c \
	tools/lab/servers/others.h \
	tools/lab/servers/packages.c \
	tools/lab/servers/packages.h \
	tools/lab/servers/page.c \
	tools/lab/servers/page.h \
	tools/lab/servers/sandbox.c \
	tools/lab/servers/sandbox.h \
	tools/lab/servers/scripts.c \
	tools/lab/servers/scripts.h \
	tools/lab/servers/servers.c \
	tools/lab/servers/servers.h \
	tools/lab/servers/site.c \
	tools/lab/servers/site.h \
	tools/lab/servers/spawn.c \
	tools/lab/servers/spawn.h \
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

# The lab's stacks, workloads and studies: text files, which users copy.
lab_stacks = \
	tools/lab/stacks/event-cgi-suexec.stack \
	tools/lab/stacks/event-fcgid-users.stack \
	tools/lab/stacks/event-fcgid.stack \
	tools/lab/stacks/event-fpm-tcp.stack \
	tools/lab/stacks/event-fpm-users.stack \
	tools/lab/stacks/event-fpm.stack \
	tools/lab/stacks/event-static.stack \
	tools/lab/stacks/event-wsgi-users.stack \
	tools/lab/stacks/itk-cgi.stack \
	tools/lab/stacks/itk-modphp.stack \
	tools/lab/stacks/itk-wsgi.stack \
	tools/lab/stacks/nginx-fpm.stack \
	tools/lab/stacks/nginx-two-apaches.stack \
	tools/lab/stacks/prefork-modphp.stack \
	tools/lab/stacks/prefork-static.stack \
	tools/lab/stacks/prefork-wsgi.stack \
	tools/lab/stacks/worker-fcgid.stack \
	tools/lab/stacks/worker-fpm-tcp.stack \
	tools/lab/stacks/worker-fpm.stack \
	tools/lab/stacks/worker-static.stack
lab_includes = \
	tools/lab/stacks/include/apache.conf \
	tools/lab/stacks/include/behind-nginx.conf \
	tools/lab/stacks/include/fcgid.conf \
	tools/lab/stacks/include/fpm-global.conf \
	tools/lab/stacks/include/fpm-pool.conf \
	tools/lab/stacks/include/mpm-event.conf \
	tools/lab/stacks/include/mpm-prefork.conf \
	tools/lab/stacks/include/mpm-worker.conf \
	tools/lab/stacks/include/nginx-http.conf \
	tools/lab/stacks/include/nginx.conf
lab_workloads = \
	tools/lab/workloads/django.workload \
	tools/lab/workloads/loop.workload \
	tools/lab/workloads/sleep.workload \
	tools/lab/workloads/static.workload \
	tools/lab/workloads/subrequest.workload \
	tools/lab/workloads/wordpress-like.workload \
	tools/lab/workloads/wordpress.workload
lab_studies = \
	tools/lab/studies/apache-nginx.study \
	tools/lab/studies/itk-peruser.study \
	tools/lab/studies/mpm-event.study \
	tools/lab/studies/mpm-sapi.study \
	tools/lab/studies/prefork-fpm.study
labstudiesdir = $(pkgdatadir)/lab/studies
dist_labstudies_DATA = $(lab_studies)
labstacksdir = $(pkgdatadir)/lab/stacks
dist_labstacks_DATA = $(lab_stacks)
labincludesdir = $(labstacksdir)/include
dist_labincludes_DATA = $(lab_includes)
labworkloadsdir = $(pkgdatadir)/lab/workloads
dist_labworkloads_DATA = $(lab_workloads)
EXTRA_DIST += tools/lab/stacks tools/lab/workloads tools/lab/studies

# A tool that runs from the build tree looks for the lab's files here.
data_tree = share/mpmstat/lab share/mpmstat/workloads share/mpmstat/real
all-local: $(data_tree)
share/mpmstat/lab:
	@$(MKDIR_P) share/mpmstat
	$(AM_V_GEN)$(LN_S) $(abs_srcdir)/tools/lab $@
share/mpmstat/workloads share/mpmstat/real:
	@$(MKDIR_P) share/mpmstat
	$(AM_V_GEN)$(LN_S) $(abs_srcdir)/phpapp/$(@F) $@

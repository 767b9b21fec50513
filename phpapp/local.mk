# The PHP extension and the workloads.

phpext_sources = \
	phpapp/ext/board_place.c \
	phpapp/ext/board_place.h \
	phpapp/ext/compat.h \
	phpapp/ext/delay.c \
	phpapp/ext/delay.h \
	phpapp/ext/end_cache.c \
	phpapp/ext/end_call.c \
	phpapp/ext/end_call.h \
	phpapp/ext/end_database.c \
	phpapp/ext/end_file.c \
	phpapp/ext/end_functions.h \
	phpapp/ext/end_http.c \
	phpapp/ext/end_known.c \
	phpapp/ext/end_known.h \
	phpapp/ext/end_name.c \
	phpapp/ext/end_name.h \
	phpapp/ext/end_socket.c \
	phpapp/ext/end_stream.c \
	phpapp/ext/end_url.c \
	phpapp/ext/end_url.h \
	phpapp/ext/ends.c \
	phpapp/ext/ends.h \
	phpapp/ext/label.c \
	phpapp/ext/label.h \
	phpapp/ext/lifecycle.c \
	phpapp/ext/lifecycle.h \
	phpapp/ext/mpmstat.c \
	phpapp/ext/mpmstat_arginfo.h \
	phpapp/ext/code_place.c \
	phpapp/ext/code_place.h \
	phpapp/ext/opcache.c \
	phpapp/ext/opcache.h \
	phpapp/ext/pools.c \
	phpapp/ext/pools.h \
	phpapp/ext/profile.c \
	phpapp/ext/profile.h \
	phpapp/ext/request.c \
	phpapp/ext/request.h \
	phpapp/ext/settings.c \
	phpapp/ext/settings.h \
	phpapp/ext/state.c \
	phpapp/ext/state.h \
	phpapp/ext/timed.c \
	phpapp/ext/timed.h \
	phpapp/ext/wait_place.c \
	phpapp/ext/wait_place.h \
	phpapp/ext/waits.c \
	phpapp/ext/waits.def \
	phpapp/ext/waits.h
if WITH_PHP
phpext_LTLIBRARIES = phpapp/ext/mpmstat.la
phpapp_ext_mpmstat_la_SOURCES = $(phpext_sources)
phpapp_ext_mpmstat_la_CPPFLAGS = $(LIBRARY_CPPFLAGS) $(PHP_CPPFLAGS)
phpapp_ext_mpmstat_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^get_module$$'
phpapp_ext_mpmstat_la_LIBADD = libmpmstat.la
endif

EXTRA_DIST += phpapp/ext/mpmstat.stub.php phpapp/ext/tests

# Without the rest of the project: PIE and phpize build with these.
EXTRA_DIST += composer.json phpapp/ext/config.m4

# An installed workload keeps its directories.
workload_pages = \
	phpapp/workloads/README.md \
	phpapp/workloads/common.php \
	phpapp/workloads/lock.md \
	phpapp/workloads/lock.php \
	phpapp/workloads/loop.md \
	phpapp/workloads/loop.php \
	phpapp/workloads/sleep.md \
	phpapp/workloads/sleep.php \
	phpapp/workloads/static.html \
	phpapp/workloads/static.md \
	phpapp/workloads/subrequest.md \
	phpapp/workloads/wordpress-like.md
workload_blog = \
	phpapp/workloads/wordpress-like/generate.php \
	phpapp/workloads/wordpress-like/index.php \
	phpapp/workloads/wordpress-like/seed.php \
	phpapp/workloads/wordpress-like/setup.php
workload_blog_src = \
	phpapp/workloads/wordpress-like/src/assets.php \
	phpapp/workloads/wordpress-like/src/blocks.php \
	phpapp/workloads/wordpress-like/src/boot.php \
	phpapp/workloads/wordpress-like/src/cache.php \
	phpapp/workloads/wordpress-like/src/comments.php \
	phpapp/workloads/wordpress-like/src/database.php \
	phpapp/workloads/wordpress-like/src/escaping.php \
	phpapp/workloads/wordpress-like/src/formatting.php \
	phpapp/workloads/wordpress-like/src/hooks.php \
	phpapp/workloads/wordpress-like/src/menus.php \
	phpapp/workloads/wordpress-like/src/options.php \
	phpapp/workloads/wordpress-like/src/posts.php \
	phpapp/workloads/wordpress-like/src/query.php \
	phpapp/workloads/wordpress-like/src/random.php \
	phpapp/workloads/wordpress-like/src/registry.php \
	phpapp/workloads/wordpress-like/src/request.php \
	phpapp/workloads/wordpress-like/src/storage.php \
	phpapp/workloads/wordpress-like/src/tags.php \
	phpapp/workloads/wordpress-like/src/template.php \
	phpapp/workloads/wordpress-like/src/terms.php \
	phpapp/workloads/wordpress-like/src/users.php \
	phpapp/workloads/wordpress-like/src/widgets.php
workload_blog_theme = \
	phpapp/workloads/wordpress-like/theme/404.php \
	phpapp/workloads/wordpress-like/theme/archive.php \
	phpapp/workloads/wordpress-like/theme/comments.php \
	phpapp/workloads/wordpress-like/theme/content.php \
	phpapp/workloads/wordpress-like/theme/excerpt.php \
	phpapp/workloads/wordpress-like/theme/feed.php \
	phpapp/workloads/wordpress-like/theme/footer.php \
	phpapp/workloads/wordpress-like/theme/functions.php \
	phpapp/workloads/wordpress-like/theme/header.php \
	phpapp/workloads/wordpress-like/theme/index.php \
	phpapp/workloads/wordpress-like/theme/meta.php \
	phpapp/workloads/wordpress-like/theme/neighbours.php \
	phpapp/workloads/wordpress-like/theme/search.php \
	phpapp/workloads/wordpress-like/theme/sidebar.php \
	phpapp/workloads/wordpress-like/theme/single.php \
	phpapp/workloads/wordpress-like/theme/style.css
workload_subrequest = phpapp/workloads/subrequest/index.php
workload_subrequest_src = \
	phpapp/workloads/subrequest/src/Arguments.php \
	phpapp/workloads/subrequest/src/Bag.php \
	phpapp/workloads/subrequest/src/BlockController.php \
	phpapp/workloads/subrequest/src/Catalogue.php \
	phpapp/workloads/subrequest/src/Container.php \
	phpapp/workloads/subrequest/src/Controllers.php \
	phpapp/workloads/subrequest/src/Event.php \
	phpapp/workloads/subrequest/src/Events.php \
	phpapp/workloads/subrequest/src/Fragments.php \
	phpapp/workloads/subrequest/src/Kernel.php \
	phpapp/workloads/subrequest/src/Listeners.php \
	phpapp/workloads/subrequest/src/NotFound.php \
	phpapp/workloads/subrequest/src/PageController.php \
	phpapp/workloads/subrequest/src/Request.php \
	phpapp/workloads/subrequest/src/Response.php \
	phpapp/workloads/subrequest/src/Router.php \
	phpapp/workloads/subrequest/src/Routes.php \
	phpapp/workloads/subrequest/src/Services.php \
	phpapp/workloads/subrequest/src/Stack.php \
	phpapp/workloads/subrequest/src/Templates.php
workload_subrequest_templates = \
	phpapp/workloads/subrequest/templates/block.php \
	phpapp/workloads/subrequest/templates/page.php
workload_files = $(workload_pages) $(workload_blog) $(workload_blog_src) $(workload_blog_theme) \
	$(workload_subrequest) $(workload_subrequest_src) $(workload_subrequest_templates)
workload_scripts = $(filter %.php,$(workload_files)) phpapp/real/install-wordpress.php \
	phpapp/real/symfony-page.php tests/integration/php/all_of_the_library.php
if WITH_PHP
workloadsdir = $(pkgdatadir)/workloads
workloads_DATA = $(workload_pages)
blogdir = $(workloadsdir)/wordpress-like
blog_DATA = $(workload_blog)
blogsrcdir = $(blogdir)/src
blogsrc_DATA = $(workload_blog_src)
blogthemedir = $(blogdir)/theme
blogtheme_DATA = $(workload_blog_theme)
subrequestdir = $(workloadsdir)/subrequest
subrequest_DATA = $(workload_subrequest)
subrequestsrcdir = $(subrequestdir)/src
subrequestsrc_DATA = $(workload_subrequest_src)
subrequesttemplatesdir = $(subrequestdir)/templates
subrequesttemplates_DATA = $(workload_subrequest_templates)
endif
EXTRA_DIST += $(workload_files) phpapp/workloads/calibrate phpapp/real

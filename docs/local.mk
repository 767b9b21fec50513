# Documents, manual pages, completions.

dist_doc_DATA = NEWS LICENSE
# Installed documents keep their directories, so that their links stay valid.
nobase_dist_doc_DATA = README.md $(documents) $(pictures)
documents = \
	contrib/ci/README.md \
	contrib/container/Containerfile \
	contrib/container/README.md \
	contrib/github-action/action.yml \
	contrib/github-action/example-workflow.yml \
	contrib/gitlab/mpmstat.gitlab-ci.yml \
	docs/administrator.md \
	docs/architecture.md \
	docs/comparison.md \
	docs/developer.md \
	docs/measuring.md \
	docs/reference/README.md \
	docs/reference/archive.md \
	docs/reference/board.md \
	docs/reference/cli.md \
	docs/reference/directives.md \
	docs/reference/findings.md \
	docs/reference/loadtools.md \
	docs/reference/metrics.md \
	docs/reference/php-settings.md \
	docs/reference/status-page.md \
	docs/security.md \
	phpapp/ext/README.md \
	phpapp/workloads/README.md \
	phpapp/workloads/lock.md \
	phpapp/workloads/loop.md \
	phpapp/workloads/sleep.md \
	phpapp/workloads/static.md \
	phpapp/workloads/subrequest.md \
	phpapp/workloads/wordpress-like.md \
	tools/lab/README.md
pictures = docs/images/dashboard.png docs/images/record.png docs/images/report.png \
    docs/images/stall.png docs/images/status.png
dist_man_MANS = \
	man/mpmstat-capacity.1 \
	man/mpmstat-compare.1 \
	man/mpmstat-explain.1 \
	man/mpmstat-export.1 \
	man/mpmstat-fields.1 \
	man/mpmstat-import.1 \
	man/mpmstat-lab.1 \
	man/mpmstat-record.1 \
	man/mpmstat-report.1 \
	man/mpmstat-serve.1 \
	man/mpmstat-status.1 \
	man/mpmstat-top.1 \
	man/mpmstat-whatif.1 \
	man/mpmstat.1
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = completions/mpmstat.bash
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = completions/_mpmstat
EXTRA_DIST += docs/generate docs/pictures

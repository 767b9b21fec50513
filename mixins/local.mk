# Prometheus's rules and alerts, Grafana's dashboard.

mixinsdir = $(pkgdatadir)/mixins
dist_mixins_DATA = mixins/alerts.yml mixins/dashboard.json mixins/rules.yml mixins/tests.yml
EXTRA_DIST += mixins/dashboard.py

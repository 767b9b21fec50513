# Debian packages, and the checks that a release has to pass.

.PHONY: deb deb-check php-matrix release-check need-debian
need-debian:
	@test -d $(srcdir)/debian || { \
		echo 'this needs debian/, which is in the repository and not in the source archive' >&2; exit 1; }

# Builds the source package and the packages in deb/ of the build directory.
deb: need-debian dist
	@command -v dpkg-buildpackage dpkg-checkbuilddeps >/dev/null || { \
		echo 'make deb needs dpkg-buildpackage: apt-get install dpkg-dev' >&2; exit 1; }
	@rm -rf deb && $(MKDIR_P) deb && tar -x -C deb -f $(distdir).tar.xz && \
		cp -R $(srcdir)/debian deb/$(distdir)/ && \
		cp $(distdir).tar.xz deb/$(PACKAGE)_$(VERSION).orig.tar.xz
	@cd deb/$(distdir) && dpkg-checkbuilddeps || { \
		echo 'make deb needs these: apt-get build-dep $(abs_builddir)/deb/$(distdir)' >&2; exit 1; }
	cd deb/$(distdir) && dpkg-buildpackage -us -uc
	@ls deb/*.deb

# Builds and tests the packages in chroots. DEB_SUITES='trixie' and DEB_STEPS='build lintian' select.
DEB_SUITES = trixie bookworm
DEB_STEPS =
deb-check: need-debian dist
	@for suite in $(DEB_SUITES); do \
		$(srcdir)/tests/packages/check $(distdir).tar.xz deb-check $$suite $(DEB_STEPS) || exit 1; \
	done

# Builds and tests the extension for each PHP that Debian has, in chroots. PHP_MATRIX='8.4 8.6'
# selects.
PHP_MATRIX =
php-matrix: need-debian dist
	$(srcdir)/tests/php-matrix/check $(distdir).tar.xz php-matrix $(PHP_MATRIX)

# Runs the checks that a release has to pass: all tests, from the source archive; lint; and that
# debian/copyright accounts for every file, manual pages render, links are valid, versions agree.
release-check: need-debian need-pytest all lint distcheck
	$(PYTHON) $(srcdir)/tests/packages/copyright $(srcdir)/debian/copyright $(distdir).tar.xz
	@$(TEST_SETTINGS) export $(TEST_NAMES); \
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider \
		-k 'render or links or pictures or installed or generated or version' \
		$(srcdir)/tests/integration/packaging/test_documents.py $(srcdir)/tests/integration/packaging/test_tool_manual.py

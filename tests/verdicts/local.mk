# The verdicts: loads with a planted fault, and what mpmstat finds in them. They need root, for
# namespaces and control groups, and a machine with nothing else to do is best.

# VERDICTS selects cases by words of their names.
VERDICTS =
verdicts_environment = $(TEST_SETTINGS) export $(TEST_NAMES) PYTHONDONTWRITEBYTECODE=1
run_verdicts = $(PYTHON) -m pytest -p no:cacheprovider -q $(srcdir)/tests/verdicts && \
	$(PYTHON) $(srcdir)/tests/verdicts/check.py
.PHONY: check-verdicts check-verdicts-fast
check-verdicts: need-pytest all
	@$(verdicts_environment); $(run_verdicts) $(VERDICTS)

check-verdicts-fast: need-pytest all
	@$(verdicts_environment); $(run_verdicts) --fast $(VERDICTS)

EXTRA_DIST += tests/verdicts

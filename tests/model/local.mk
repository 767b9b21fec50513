# Predictions, each beside the change that it predicts. Nothing else should run on the machine.

# MODEL selects cases by words of their names.
MODEL =
.PHONY: check-model
check-model: need-pytest all
	@$(TEST_SETTINGS) export $(TEST_NAMES) PYTHONDONTWRITEBYTECODE=1; \
		$(PYTHON) $(srcdir)/tests/model/check.py $(MODEL)

EXTRA_DIST += tests/model

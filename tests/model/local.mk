# Predictions, each beside the change that it predicts. Nothing else should run on the machine.

# MODEL and CAPACITY select cases by words of their names.
MODEL =
CAPACITY =
.PHONY: check-model check-capacity
check-model: need-pytest all
	@$(TEST_SETTINGS) export $(TEST_NAMES) PYTHONDONTWRITEBYTECODE=1; \
		$(PYTHON) $(srcdir)/tests/model/check.py $(MODEL)

# What mpmstat capacity finds, beside a full sweep of each server.
check-capacity: need-pytest all
	@$(TEST_SETTINGS) export $(TEST_NAMES) PYTHONDONTWRITEBYTECODE=1; \
		$(PYTHON) $(srcdir)/tests/model/capacity.py $(CAPACITY)

EXTRA_DIST += tests/model

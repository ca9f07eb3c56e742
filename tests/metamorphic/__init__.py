"""Whatever does not belong to a rule changes none of its rows (`python -m tests.metamorphic N`)."""

"""Plans as SQL: event processing on a database of the user's own."""

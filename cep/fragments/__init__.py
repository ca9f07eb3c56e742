"""A rule file on a database, and on our engine what the database does not run."""

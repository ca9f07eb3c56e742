"""A day that a daemon has lived, run again, and what differs."""

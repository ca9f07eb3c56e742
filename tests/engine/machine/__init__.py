"""The table-driven engine, compared with the interpreter."""

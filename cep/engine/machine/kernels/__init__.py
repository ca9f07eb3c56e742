"""The library: everything here is compiled once, for all rules. See `words` for the memory."""

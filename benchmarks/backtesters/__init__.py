"""The backtester beside those that people use: the same ticks, the same strategy, in one run."""

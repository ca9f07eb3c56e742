"""Backtests: archived records through the rules, fills for the signals, and what came of them."""

"""One script per claim, its result table beside it: `python -m benchmarks.n3`."""

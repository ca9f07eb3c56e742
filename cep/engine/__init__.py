"""The native engine: a plan as generated Python over NumPy state, compiled by Numba."""

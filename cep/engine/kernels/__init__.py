"""Numba kernels: arrays and scalars in, arrays out; every check and choice lives outside."""

"""The table-driven engine: a rule file is a program of integers, run by one library of kernels.

The library is compiled once per installation; a rule file compiles nothing. `docs/engine.md` says
why, and in which order the rest of the engine moves here.
"""

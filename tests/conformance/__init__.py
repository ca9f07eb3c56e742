"""Runs the recorded answers of the real Siddhi against this engine.

`python -m tests.conformance FILE.jsonl [--area A] [--compat siddhi] [--jit] [--show ID]`
"""

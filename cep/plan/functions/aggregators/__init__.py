"""Aggregators, a file for each or for a few that share what they remember.

Those of Siddhi, and ours. Whatever stands in a module here as an `Aggregator` is one.
"""

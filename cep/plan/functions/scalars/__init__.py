"""Scalar functions, a file for each or for a few that are alike; namespaces are those of Siddhi.

Whatever stands in a module here as a `Scalar` is one.
"""

"""Semantics as text: every case runs on every back end."""

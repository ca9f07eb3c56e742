"""Spark: one local session, distributed archiving, and the backtest's stages."""

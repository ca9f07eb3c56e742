"""Ticks, deals, sequence numbers and sockets between MetaTrader 5 and Python."""

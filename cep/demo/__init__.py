"""The demo: the whole way of a tick, on this machine, in a minute or two."""

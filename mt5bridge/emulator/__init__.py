"""A MetaTrader 5 terminal for tests: compiles the MQL5 sources with g++ and runs them on Linux.

`translate` turns an unmodified .mq5 into C++, `shim` is the terminal it runs on (language, market,
broker), `build` makes the executable, `terminal` starts and watches it.

What it cannot prove: that MetaEditor accepts the sources (it refuses what is known to be C++ only,
and g++ warns of lost data and hidden names as MetaEditor does, but the real compiler decides), the
terminal's timing, what a broker's server does, and in which order the arguments of a call are
evaluated (g++: right to left; MQL5 promises nothing).
"""

"""The account that orders are simulated at, in a backtest and on paper."""

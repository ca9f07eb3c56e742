"""Plan to Python source: one module a stage, readable, and compiled as it stands."""

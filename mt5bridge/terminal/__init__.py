"""The terminal's side on disk: find terminals, copy the MQL5 sources, examine the link."""

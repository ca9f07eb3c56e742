"""Complex event processing for traders: one rule, three engines, the same answer."""

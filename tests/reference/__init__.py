"""The naive reference: lists, dicts and brute force, to be compared with everything fast."""

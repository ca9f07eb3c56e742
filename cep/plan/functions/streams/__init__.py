"""Stream functions: `#name(..)` behind a stream. What stands here is found by where it stands."""

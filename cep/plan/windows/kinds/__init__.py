"""The windows there are, a kind a file: what stands here is found by where it stands."""

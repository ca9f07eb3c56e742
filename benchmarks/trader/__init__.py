"""Rule files of what traders write, each beside the same computed with pandas and NumPy."""

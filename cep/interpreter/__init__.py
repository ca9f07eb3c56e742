"""The interpreter: runs every plan, uncompiled, row by row and chunk by chunk."""

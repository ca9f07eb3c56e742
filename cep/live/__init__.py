"""The live pipeline: what a terminal sends becomes stored records, events and signals."""

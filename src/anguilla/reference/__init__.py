"""The algorithms of the papers, written to be read."""

"""Kernels of what acts: one file for each load, one for each family that dispatches them (frames, pairs, constraints)."""

"""Derivatives of motions: backward for a cost, forward for a few parameters."""

"""Curves of equilibria under a growing load."""

"""Equilibria: Newton with load continuation, ways down the hill, relaxation, and the judge of what was found."""

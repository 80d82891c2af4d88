"""Motions: schemes, starts, the compiled time loop, cut steps, events, checkpoints, and the judge of what was made."""

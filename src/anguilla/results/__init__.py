"""What solvers return, and everything that can be read from it."""

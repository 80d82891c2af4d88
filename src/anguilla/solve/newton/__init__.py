"""The one Newton solver, its dense factorisation, and the closing of loops that everything starts with."""

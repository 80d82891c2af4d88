"""Files of results: what is kept of a computation, and the formats it is written in."""

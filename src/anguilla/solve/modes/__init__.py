"""Small motions: the terms of the equations of motion, linear models, vibrations, stability."""

"""The papers' algorithms in plain NumPy, line by line, with the numbers of their equations.

They are written to be read beside the papers and to test the fast core; speed is no concern. Each module holds one part of
one paper; `docs/reference_algorithms.md` sets the symbols beside the names and lists where the printed text is corrected.

rod           000 II-V     a rod, its bases, stiffness, tendons
idm           000 VI-VII   the inverse dynamics along X, the matrices by unit inputs, explicit motion in time
flows         000 VIII     statics by the damped flow and, for two clamped ends, by the projected flow
spectral      004 IX       linear equations along a rod on a Chebyshev grid
robots        004 II, VI   trees and loops of rods and rigid bodies
newton_euler  004 VII-VIII inverse dynamics (IDM): the residual
tangent       004 VII-VIII tangent inverse dynamics (TIDM)
implicit      004 III-IV   Newmark on R^n x SO(3) x R^3 with Newton, Algorithm 1
water         001 III-IV   the body of the eel and the water around it
gaits         001 IX       the curvature laws of its swimming
eel           001 V-VIII   the computed-torque algorithm of the eel
singular_lq   003 App. 2   dynamics as a singular linear-quadratic problem, and why it is ill-conditioned
"""

"""Elastic laws at a point: energy, stress, and the tangent in one common form.

For all three laws the stiffness between two nodes with shape gradients a and b is

    (a . S b) 1 + alpha (Q a)(Q b)^T + beta (Q b)(Q a)^T + gamma (a . b) Q Q^T + (Q [a]x) G (Q [b]x)^T

with S, G symmetric 3x3, and theta, the volume strain the law uses, changes by d theta = Q : dF. So the part alpha = lambda
is the only one that carries the bulk stiffness; when the volume strain is averaged over neighbours it is left out here and
the pressure p = lambda theta comes from outside.

corotational           theta = tr(U) - 3   Q = R      W = mu |U - 1|^2 + lambda/2 theta^2        002, after [24]
St Venant-Kirchhoff    theta = tr(E)       Q = F      W = mu |E|^2 + lambda/2 theta^2             002 (20)
Neo-Hookean            theta = ln J        Q = F^-T   W = mu/2 (tr(C) - 3) - mu theta + lambda/2 theta^2
membrane               as St Venant-Kirchhoff, in the plane of a thin layer: the shape gradients lie in it, F has rank two
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline
from anguilla.mechanics.vec import maxpy, mscale

COROTATIONAL, ST_VENANT, NEO_HOOKEAN, MEMBRANE, RUBBER = 0, 1, 2, 3, 4  # RUBBER: see `rubber`; its theta is ln J
LAWS = {"corotational": COROTATIONAL, "st_venant": ST_VENANT, "neo_hookean": NEO_HOOKEAN}

POLAR_STEPS = 30
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def cofactor(m):
    """Cofactors of m: det(m) m^-T."""
    return (
        m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6],
        m[2] * m[7] - m[1] * m[8], m[0] * m[8] - m[2] * m[6], m[1] * m[6] - m[0] * m[7],
        m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3],
    )  # fmt: skip


@inline
def inner(m, n):
    """m : n."""
    return (
        m[0] * n[0] + m[1] * n[1] + m[2] * n[2] + m[3] * n[3] + m[4] * n[4] + m[5] * n[5]
        + m[6] * n[6] + m[7] * n[7] + m[8] * n[8]
    )  # fmt: skip


@inline
def gram(m):
    """m^T m."""
    a = m[0] * m[0] + m[3] * m[3] + m[6] * m[6]
    b = m[0] * m[1] + m[3] * m[4] + m[6] * m[7]
    c = m[0] * m[2] + m[3] * m[5] + m[6] * m[8]
    d = m[1] * m[1] + m[4] * m[4] + m[7] * m[7]
    e = m[1] * m[2] + m[4] * m[5] + m[7] * m[8]
    f = m[2] * m[2] + m[5] * m[5] + m[8] * m[8]
    return a, b, c, b, d, e, c, e, f


@inline
def polar(f):
    """Rotation R of F = R U, det F > 0, by Newton's iteration R <- (R + R^-T) / 2 with scaling."""
    r = f
    far = 1.0
    for _ in range(POLAR_STEPS):
        c = cofactor(r)
        det = r[0] * c[0] + r[1] * c[1] + r[2] * c[2]
        inverse = 1.0 / det
        g = 1.0
        if far > 0.1:  # balance the norms of R and R^-T: far from a rotation it saves iterations
            size = inner(r, r)
            if abs(size - 3.0) > 0.3:
                g = math.sqrt(abs(inverse) * math.sqrt(inner(c, c) / size))
        n = maxpy(0.5 * g, r, mscale(0.5 * inverse / g, c))
        d = maxpy(-1.0, n, r)
        r = n
        far = inner(d, d)
        if far < 1e-17:  # quadratic convergence: the next error is below round-off
            break
    return r


@inline
def stretch(r, f):
    """Symmetric part of R^T F."""
    a = r[0] * f[0] + r[3] * f[3] + r[6] * f[6]
    d = r[1] * f[1] + r[4] * f[4] + r[7] * f[7]
    i = r[2] * f[2] + r[5] * f[5] + r[8] * f[8]
    b = 0.5 * (r[0] * f[1] + r[3] * f[4] + r[6] * f[7] + r[1] * f[0] + r[4] * f[3] + r[7] * f[6])
    c = 0.5 * (r[0] * f[2] + r[3] * f[5] + r[6] * f[8] + r[2] * f[0] + r[5] * f[3] + r[8] * f[6])
    e = 0.5 * (r[1] * f[2] + r[4] * f[5] + r[7] * f[8] + r[2] * f[1] + r[5] * f[4] + r[8] * f[7])
    return a, b, c, b, d, e, c, e, i


@inline
def volume_strain(law, f):
    """(theta, Q): the volume strain of a law and its derivative with respect to F."""
    theta, q = 0.0, f
    if law == COROTATIONAL:
        q = polar(f)
        theta = inner(q, f) - 3.0
    elif law == ST_VENANT:
        theta = 0.5 * (inner(f, f) - 3.0)
    elif law == MEMBRANE:
        theta = 0.5 * (inner(f, f) - 2.0)
    else:
        c = cofactor(f)
        j = f[0] * c[0] + f[1] * c[1] + f[2] * c[2]
        q = mscale(1.0 / j, c)
        theta = math.log(j)
    return theta, q


@inline
def respond(law, f, mu, lam, p, averaged):
    """(energy density, P, Q, S, alpha, beta, gamma, G) of a law at the deformation gradient F, det F > 0.

    With `averaged` the pressure is p instead of lambda theta, and the energy and stiffness of the volume strain are left out.
    """
    theta, q = volume_strain(law, f)
    alpha, pressure, energy = lam, lam * theta, 0.5 * lam * theta * theta
    if averaged == 1:
        alpha, pressure, energy = 0.0, p, 0.0
    beta, gamma = 0.0, 0.0
    s, g = ZERO, ZERO
    stress = ZERO
    if law == COROTATIONAL:
        u = stretch(q, f)
        d = (u[0] - 1.0, u[1], u[2], u[3], u[4] - 1.0, u[5], u[6], u[7], u[8] - 1.0)
        energy += mu * inner(d, d)
        stress = maxpy(pressure - 2.0 * mu, q, mscale(2.0 * mu, f))
        s = mscale(2.0 * mu, IDENTITY)
        # dR = R [w]x with (tr(U) 1 - U) w the axial vector of R^T dF - dF^T R
        trace = u[0] + u[4] + u[8]
        y = (trace - u[0], -u[1], -u[2], -u[3], trace - u[4], -u[5], -u[6], -u[7], trace - u[8])
        c = cofactor(y)
        g = mscale((pressure - 2.0 * mu) / (y[0] * c[0] + y[1] * c[1] + y[2] * c[2]), c)
    elif law == ST_VENANT or law == MEMBRANE:
        c = gram(f)
        e = (0.5 * c[0] - 0.5, 0.5 * c[1], 0.5 * c[2], 0.5 * c[3], 0.5 * c[4] - 0.5, 0.5 * c[5], 0.5 * c[6], 0.5 * c[7],
             0.5 * c[8] - 0.5)  # fmt: skip
        energy += mu * inner(e, e)
        if law == MEMBRANE:
            energy -= 0.25 * mu  # e counts -1/2 along the normal, which is no strain of the layer
        s = maxpy(pressure, IDENTITY, mscale(2.0 * mu, e))
        stress = (
            f[0] * s[0] + f[1] * s[3] + f[2] * s[6], f[0] * s[1] + f[1] * s[4] + f[2] * s[7],
            f[0] * s[2] + f[1] * s[5] + f[2] * s[8],
            f[3] * s[0] + f[4] * s[3] + f[5] * s[6], f[3] * s[1] + f[4] * s[4] + f[5] * s[7],
            f[3] * s[2] + f[4] * s[5] + f[5] * s[8],
            f[6] * s[0] + f[7] * s[3] + f[8] * s[6], f[6] * s[1] + f[7] * s[4] + f[8] * s[7],
            f[6] * s[2] + f[7] * s[5] + f[8] * s[8],
        )  # fmt: skip
        beta, gamma = mu, mu
    else:
        energy += 0.5 * mu * (inner(f, f) - 3.0) - mu * theta
        stress = maxpy(pressure - mu, q, mscale(mu, f))
        s = mscale(mu, IDENTITY)
        beta = mu - pressure
    return energy, stress, q, s, alpha, beta, gamma, g

"""SO(3) and SE(3) against truth that shares no formula with the module.

The truth is the matrix exponential of SciPy, and power series of the hat and adjoint matrices summed in fixed point
with 320 binary digits, whose central differences are exact to the last double-precision digit.
"""

from fractions import Fraction
from itertools import product
from math import factorial, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from anguilla import lie

pytestmark = pytest.mark.filterwarnings("error")

RNG = np.random.default_rng(4)
OCTANTS = [np.array(s) * a / np.linalg.norm(a) for s in product((1, -1), repeat=3) for a in [np.array([0.7, 1.1, 0.4])]]
AXES = [*OCTANTS, *np.eye(3), *-np.eye(3), np.array([0.6, 0.8, 0.0]), np.array([0.0, -0.6, 0.8])]
SWITCH = np.sqrt(lie._SWITCH)
SMALL_ANGLES = [0.0, 1e-12, 1e-8, 1e-4, 1.0, 2.0]
BRANCH_ANGLES = [np.nextafter(SWITCH, 0), SWITCH, SWITCH * (1 - 1e-9), SWITCH * (1 + 1e-9), SWITCH - 0.3, SWITCH + 0.3]
ANGLES = [*SMALL_ANGLES, pi - 1e-3, pi - 1e-8, pi, pi + 1e-3, *BRANCH_ANGLES]
WIDE_ANGLES = [*ANGLES, 2 * pi, 9.0]

# Truth ----------------------------------------------------------------------------------------------------------------

BITS = 320


def fixed(x):
    """Return an exact fixed-point copy of a float array: Python integers counting 2^-BITS."""
    return np.vectorize(lambda y: int(Fraction(float(y)) * 2**BITS), otypes=[object])(np.asarray(x, float))


def floating(x):
    """Return the nearest floats of a fixed-point array."""
    return np.vectorize(lambda y: float(Fraction(y, 2**BITS)), otypes=[float])(x)


def power_series(A, shift):
    """Return sum_k A^k / (k + shift)! of a fixed-point matrix: the exponential for shift 0, dexp for shift 1."""
    term = fixed(np.eye(len(A))) // factorial(shift)
    total, k = term.copy(), 0
    while k < 8 or np.abs(term).max() > 2:
        k += 1
        term = (term @ A >> BITS) // (k + shift)
        total = total + term
    return total


def hat(w):
    """Return the cross-product matrix, for floats and for fixed-point integers."""
    x, y, z = w
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def adjoint(xi):
    """Return the 6x6 matrix [[W, 0], [V, W]] of a twist."""
    W, V = hat(xi[:3]), hat(xi[3:])
    return np.block([[W, 0 * W], [V, W]])


def left_tangent(x):
    """Return the fixed-point dexp of a fixed-point rotation vector or twist, sum_k ad^k / (k + 1)!."""
    return power_series(hat(x) if len(x) == 3 else adjoint(x), 1)


def left_tangent_derivatives(x):
    """Return dexp(x) and the list of its derivatives in the components of x, by central differences of step 2^-90."""
    x, step, derivatives = fixed(x), 2 ** (BITS - 90), []
    for i in range(len(x)):
        e = np.array([step * (i == j) for j in range(len(x))], dtype=object)
        derivatives.append(floating((left_tangent(x + e) - left_tangent(x - e)) * 2**89))
    return floating(left_tangent(x)), derivatives


def stumpff_exact(s, k, bits=2000):
    """Return c_k(s) as a fraction, its alternating series summed with 2000 binary digits."""
    S, term, total, j = int(Fraction(s) * 2**bits), 2**bits // factorial(k), 0, 0
    while j < 8 or abs(term) > 1:
        total, j = total + term, j + 1
        term = (-term * S >> bits) // ((k + 2 * j) * (k + 2 * j - 1))
    return Fraction(total, 2**bits)


def twists(angles):
    """Return twists of the given rotation angles about several axes."""
    return [np.concatenate([x * a, RNG.uniform(-1, 1, 3)]) for x in angles for a in AXES[::3]]


def close(a, b, tolerance=1e-13):
    """Assert an absolute agreement."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


# Vectors and matrices -------------------------------------------------------------------------------------------------


def test_hat3_is_the_cross_product():
    """hat3(w) y is w x y."""
    w, y = RNG.normal(size=(2, 5, 3))
    close(np.einsum("nij,nj->ni", lie.hat3(w), y), np.cross(w, y))


def test_vee_undoes_hat():
    """The vee maps give back, bit for bit, what the hat maps took."""
    xi = RNG.normal(size=(4, 2, 6))
    assert np.array_equal(lie.vee3(lie.hat3(xi[..., :3])), xi[..., :3])
    assert np.array_equal(lie.vee6(lie.hat6(xi)), xi)


def test_ad_is_the_matrix_commutator():
    """ad(a) b is the twist of the commutator of the 4x4 matrices."""
    a, b = RNG.normal(size=(2, 6))
    A, B = lie.hat6(a), lie.hat6(b)
    close(lie.hat6(lie.ad(a) @ b), A @ B - B @ A)


def test_Ad_is_conjugation():
    """Ad(g) eta is the twist of g hat(eta) g^-1."""
    g, eta = expm(lie.hat6(RNG.normal(size=6))), RNG.normal(size=6)
    close(lie.hat6(lie.Ad(g) @ eta), g @ lie.hat6(eta) @ np.linalg.inv(g))


@pytest.mark.parametrize("angle", WIDE_ANGLES)
def test_Ad_of_exp_is_exp_of_ad(angle):
    """Ad(exp6(xi)) equals the 6x6 matrix exponential of ad(xi)."""
    for xi in twists([angle]):
        close(lie.Ad(lie.exp6(xi)), expm(adjoint(xi)))


def test_inverse_of_a_pose():
    """A pose times its inverse is the identity."""
    g = lie.exp6(RNG.normal(size=(3, 6)))
    close(lie.inverse(g) @ g, np.broadcast_to(np.eye(4), (3, 4, 4)))


def test_pose_defaults_and_parts():
    """A pose holds what it is given, and the identity elsewhere."""
    R, p = expm(hat([0.3, -1.0, 0.2])), np.array([1.0, 2.0, 3.0])
    assert np.array_equal(lie.pose(), np.eye(4))
    assert np.array_equal(lie.pose(R, p)[:3], np.column_stack([R, p]))
    assert np.array_equal(lie.pose(p=np.ones((5, 3)))[4], [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]])


# Stumpff functions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [*WIDE_ANGLES, 0.3, 3.9, 4.1, 5.0, 7.0, 20.0, 100.0])
def test_stumpff_against_exact_series(x):
    """Ten Stumpff functions agree with their exact series for angles from 0 to 100."""
    s = float(x) ** 2
    c = lie.stumpff(s, 9)
    for k in range(10):
        exact = stumpff_exact(s, k)
        error = abs(float(Fraction(float(c[k])) - exact))
        # c_0, c_1 and c_2 have zeros: their error is that of their envelope; sqrt(s) cannot carry all digits of cos x
        scale = (1.0, 1.0, 1 / (2 + s))[k] if k < 3 else float(exact)
        assert error <= 4e-15 * scale * max(1, x / 8), (k, x)


@pytest.mark.parametrize("order", range(12))
def test_stumpff_branches_agree_at_the_switch(order):
    """Series and closed form meet at the switch."""
    below, above = lie.stumpff([np.nextafter(lie._SWITCH, 0), lie._SWITCH], order).T
    np.testing.assert_allclose(below, above, rtol=2e-14, atol=0)
    assert below.shape == (order + 1,)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, -1e-3])
def test_stumpff_c2_keeps_digits_near_a_full_turn(gap):
    """c_2 vanishes like gap^2 at 2 pi; only the digits that sqrt(s) cannot carry are lost."""
    s = (2 * pi - gap) ** 2
    np.testing.assert_allclose(lie.stumpff(s, 2)[2], float(stumpff_exact(s, 2)), rtol=4e-15 / abs(gap), atol=0)


def test_stumpff_lower_orders_do_not_depend_on_the_order_asked():
    """Asking for more orders does not change the first ones."""
    s = np.linspace(0, 60, 200)
    close(lie.stumpff(s, 3), lie.stumpff(s, 8)[:4], 1e-14)


# Exponentials and logarithms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", WIDE_ANGLES)
def test_exp_is_the_matrix_exponential(angle):
    """exp3 and exp6 agree with the matrix exponential at every angle and octant."""
    for axis in AXES:
        close(lie.exp3(angle * axis), expm(hat(angle * axis)))
    for xi in twists([angle]):
        close(lie.exp6(xi), expm(lie.hat6(xi)))
        close(lie.exp6(xi), floating(power_series(fixed(lie.hat6(xi)), 0)), 2e-14)


@pytest.mark.parametrize("angle", [*SMALL_ANGLES, pi / 2, 2 * pi / 3, pi - 1e-3, pi - 1e-8])
def test_log_of_an_exact_rotation(angle):
    """The logarithms find the vector back at every angle below pi, in every octant."""
    # near pi the antisymmetric part is small but its absolute error is that of the matrix: no digit is lost
    for axis in AXES:
        w = angle * axis
        R = floating(power_series(fixed(hat(w)), 0))
        close(lie.log3(R), w, 5e-15)
        xi = np.concatenate([w, RNG.uniform(-1, 1, 3)])
        close(lie.log6(floating(power_series(fixed(lie.hat6(xi)), 0))), xi, 1e-14)
        close(lie.log6(lie.exp6(xi)), xi, 1e-14)


@pytest.mark.parametrize("angle", [1e-300, 1e-160, 1e-12, 1e-8, 1e-4])
def test_log_keeps_relative_accuracy_of_small_angles(angle):
    """A tiny rotation vector keeps its relative accuracy."""
    for axis in AXES:
        np.testing.assert_allclose(lie.log3(np.eye(3) + hat(angle * axis)), angle * axis, rtol=angle**2 + 1e-15, atol=0)


@pytest.mark.parametrize("axis", AXES)
def test_log_at_pi_is_one_of_the_two_rotation_vectors(axis):
    """At a half turn the logarithm is pi times the axis or its opposite."""
    # 2 a a^T - 1, exactly symmetric: the half turn itself
    R = 2 * np.outer(axis, axis) - np.eye(3)
    w = lie.log3(R)
    close(min(np.abs(w - pi * axis).max(), np.abs(w + pi * axis).max()), 0.0, 5e-15)
    assert np.linalg.norm(w) == pytest.approx(pi, abs=1e-15)
    close(expm(hat(w)), R, 1e-14)
    # pi in floating point, from the module's own exp: the sign may turn, the rotation may not
    close(lie.exp3(lie.log3(lie.exp3(pi * axis))), R, 1e-14)
    g = lie.pose(R, [0.3, -0.2, 0.9])
    close(expm(lie.hat6(lie.log6(g))), g, 2e-14)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-4, 4), min_size=6, max_size=6))
def test_log_then_exp_gives_the_pose_back(xi):
    """exp6(log6(g)) is g and the angle is at most pi, for any pose."""
    g = expm(lie.hat6(xi))
    log = lie.log6(g)
    assert np.linalg.norm(log[:3]) <= pi * (1 + 1e-15)
    close(lie.exp6(log), g, 1e-13)


@pytest.mark.parametrize("angle", ANGLES)
def test_quaternion_and_rotation(angle):
    """Quaternions and axis-angle pairs describe the same rotation as the exponential."""
    for axis in AXES:
        R = floating(power_series(fixed(hat(angle * axis)), 0))
        half = np.array([np.cos(angle / 2), *np.sin(angle / 2) * axis])
        close(lie.rotation(3.7 * axis, angle), R)
        close(lie.rotation_from_wxyz(2.5 * half), R)
        q = lie.quaternion_wxyz(R)
        assert q[0] >= 0
        close(min(np.abs(q - half).max(), np.abs(q + half).max()), 0.0, 1e-14)


# Tangents -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", WIDE_ANGLES)
def test_dexp_is_the_adjoint_series(angle):
    """dexp3 and dexp6 are sum ad^k / (k + 1)! on the left, and that of -xi on the right."""
    for xi in twists([angle]):
        for x, dexp in ((xi[:3], lie.dexp3), (xi, lie.dexp6)):
            close(dexp(x), floating(left_tangent(fixed(x))), 2e-14)
            close(dexp(x, side="right"), floating(left_tangent(fixed(-x))), 2e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_dexp_inv_is_the_inverse_of_the_adjoint_series(angle):
    """dexp3_inv and dexp6_inv invert the adjoint series."""
    for xi in twists([angle]):
        for x, dexp_inv in ((xi[:3], lie.dexp3_inv), (xi, lie.dexp6_inv)):
            close(dexp_inv(x), np.linalg.inv(floating(left_tangent(fixed(x)))))
            close(dexp_inv(x, side="right"), np.linalg.inv(floating(left_tangent(fixed(-x)))))


def test_dexp_sides_are_the_velocities_they_claim():
    """Left is the velocity in fixed axes, right the velocity in body axes."""
    # g(t) = expm(xi + t xi') differentiated through SciPy: 1e-9 is the accuracy of these differences
    xi, rate = RNG.normal(size=(2, 6))
    h = 1e-5
    g = expm(lie.hat6(xi))
    velocity = (expm(lie.hat6(xi + h * rate)) - expm(lie.hat6(xi - h * rate))) / (2 * h)
    close(lie.vee6(velocity @ np.linalg.inv(g)), lie.dexp6(xi, side="left") @ rate, 1e-9)
    close(lie.vee6(np.linalg.inv(g) @ velocity), lie.dexp6(xi, side="right") @ rate, 1e-9)


@pytest.mark.parametrize("angle", WIDE_ANGLES)
def test_ddexp3_differentiates_the_adjoint_series(angle):
    """ddexp3 and ddexp3_T are the derivatives of the series times a constant vector."""
    for axis in AXES[::3]:
        w, y = angle * axis, RNG.uniform(-1, 1, 3)
        _, dJ = left_tangent_derivatives(w)
        close(lie.ddexp3(w, y), np.column_stack([D @ y for D in dJ]), 1e-14)
        close(lie.ddexp3_T(w, y), np.column_stack([D.T @ y for D in dJ]), 1e-14)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("angle", ANGLES)
def test_ddexp6_inv_T_differentiates_the_adjoint_series(angle, side):
    """ddexp6_inv_T is the derivative of the inverse transposed series times a wrench."""
    sign = 1 if side == "left" else -1
    for xi in twists([angle])[:3]:
        Lambda = RNG.uniform(-1, 1, 6)
        J, dJ = left_tangent_derivatives(sign * xi)
        # d(J^-T) = -J^-T dJ^T J^-T
        inverse_T = np.linalg.inv(J).T
        truth = sign * np.column_stack([-inverse_T @ D.T @ inverse_T @ Lambda for D in dJ])
        close(lie.ddexp6_inv_T(xi, Lambda, side=side), truth, 2e-13)


def test_complex_steps_pass_through():
    """A complex step through the module gives its own derivatives, in both branches."""
    xi, Lambda, h = np.array([0.4, -1.1, 0.7, 0.2, 0.5, -0.3]), RNG.normal(size=6), 1e-30
    columns = [lie.dexp6_inv(xi + 1j * h * e).T.imag @ Lambda / h for e in np.eye(6)]
    close(lie.ddexp6_inv_T(xi, Lambda), np.column_stack(columns), 1e-14)
    far = 4 * xi
    columns = [lie.dexp3(far[:3] + 1j * h * e).imag @ Lambda[:3] / h for e in np.eye(3)]
    close(lie.ddexp3(far[:3], Lambda[:3]), np.column_stack(columns), 1e-14)


# Shapes and the door --------------------------------------------------------------------------------------------------

BATCHED = {
    "hat3": (3,),
    "vee3": (3, 3),
    "hat6": (6,),
    "vee6": (4, 4),
    "exp3": (3,),
    "log3": (3, 3),
    "exp6": (6,),
    "log6": (4, 4),
    "Ad": (4, 4),
    "ad": (6,),
    "inverse": (4, 4),
    "dexp3": (3,),
    "dexp3_inv": (3,),
    "dexp6": (6,),
    "dexp6_inv": (6,),
    "quaternion_wxyz": (3, 3),
    "rotation_from_wxyz": (4,),
    "ddexp3": (3,),
    "ddexp3_T": (3,),
    "ddexp6_inv_T": (6,),
}


@pytest.mark.parametrize("name", BATCHED)
def test_a_batch_is_its_members(name):
    """A function of a batch is the batch of the function, also of an empty one."""
    shape, function = BATCHED[name], getattr(lie, name)
    # angles on both sides of the switch in the same batch
    twist = RNG.normal(size=(2, 4, 6)) * np.array([0.1, 1.0, 2.0, 3.0])[:, None]
    g = lie.exp6(twist)
    x = {(3, 3): g[..., :3, :3], (4, 4): g, (3,): twist[..., :3], (6,): twist, (4,): twist[..., :4]}[shape]
    constant = (RNG.normal(size=(4, *shape)),) if name.startswith("dd") else ()
    batch = function(x, *constant)
    for i, j in np.ndindex(2, 4):
        member = function(x[i, j], *(c[j] for c in constant))
        assert batch[i, j].shape == member.shape
        close(batch[i, j], member, 1e-13)
    assert function(x[:0], *constant).shape == (0, *batch.shape[1:])


def test_second_argument_broadcasts_alone():
    """A batch in one argument is enough."""
    w, y = RNG.normal(size=3), RNG.normal(size=(5, 3))
    assert lie.ddexp3(w, y).shape == lie.ddexp3_T(w, y).shape == (5, 3, 3)
    assert lie.ddexp6_inv_T(np.ones(6), np.ones((2, 5, 6))).shape == (2, 5, 6, 6)
    assert lie.rotation([0, 0, 1], np.zeros((2, 3))).shape == (2, 3, 3, 3)
    assert lie.pose(np.eye(3), np.zeros((4, 3))).shape == (4, 4, 4)
    assert lie.stumpff(np.zeros((2, 3)), 4).shape == (5, 2, 3)


def test_integers_are_accepted():
    """Lists of integers are vectors too."""
    close(lie.exp3([0, 0, 1]), expm(hat([0.0, 0.0, 1.0])))
    close(lie.log6(np.eye(4, dtype=int)), np.zeros(6))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lie.exp3([1.0, 2.0]), r"w has shape \(2,\); give an array of shape \(\.\.\., 3\)"),
        (lambda: lie.log6(np.eye(3)), r"g has shape \(3, 3\); .*4, 4"),
        (lambda: lie.hat3(1.0), r"w has shape \(\)"),
        (lambda: lie.dexp6(np.zeros(6), side="up"), "'left'.*'right'"),
        (lambda: lie.rotation([0, 0, 0], 1.0), "axis has zero length"),
        (lambda: lie.rotation_from_wxyz([0, 0, np.nan, 0]), "q has zero length or is not finite"),
    ],
)
def test_wrong_input_is_named(call, words):
    """An error names the argument, what was given and what is valid."""
    with pytest.raises(ValueError, match=words):
        call()


def test_everything_public_is_listed_and_documented():
    """Every public name exists and has a docstring."""
    for name in lie.__all__:
        assert getattr(lie, name).__doc__

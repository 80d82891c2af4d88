"""Robustness of the PI loop: the paper's gains, the certificate, simulation at the limit."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import control

KP, KI = 0.14, 0.0003


def test_largest_gamma_of_the_paper():
    pytest.importorskip("cvxpy")
    found = control.robust_gamma(KP, KI)
    assert found.gamma == pytest.approx(0.98687, abs=2e-5)  # 002 (54) prints 0.98685
    assert found.gamma == pytest.approx(control.exact_gamma(KP, KI), abs=1e-5)
    # the certificate, checked in unscaled states
    C, D, F = np.array([[1 - KP, -KI], [1, 1]]), np.array([[1.0], [0.0]]), np.array([[KP, KI]])
    P = found.P
    Q = np.block([[C.T @ P @ C - P + found.gamma**2 * F.T @ F, C.T @ P @ D], [D.T @ P @ C, D.T @ P @ D - np.eye(1)]])
    assert np.linalg.eigvalsh(P).min() > 0
    assert np.linalg.eigvalsh(Q).max() < 1e-9


def test_the_matrices_of_the_paper_satisfy_its_inequality():
    C, D, F = np.array([[1 - KP, -KI], [1, 1]]), np.array([[1.0], [0.0]]), np.array([[KP, KI]])
    P, alpha, gamma = np.array([[646.4512, 1.2983], [1.2983, 0.0087]]), 4655.0, 0.98
    Q = np.block(
        [[C.T @ P @ C - P + alpha * gamma**2 * F.T @ F, C.T @ P @ D], [D.T @ P @ C, D.T @ P @ D - alpha * np.eye(1)]]
    )
    assert np.linalg.eigvalsh(P).min() > 0
    T = np.diag([1.0, KP / KI, 1.0])  # P is printed with four digits: judge in scaled states
    assert np.linalg.eigvalsh(T @ Q @ T).max() < 5.0


def test_gamma_is_one_over_the_largest_gain_in_time():
    """Power iteration on a long impulse response: no frequencies involved."""
    C, F = np.array([[1 - KP, -KI], [1, 1]]), np.array([KP, KI])
    n = 8000
    response, x = np.zeros(n), np.array([1.0, 0.0])
    for k in range(1, n):
        response[k], x = F @ x, C @ x
    frequency = np.fft.rfft(response, 8 * n)
    assert 1 / np.abs(frequency).max() == pytest.approx(control.exact_gamma(KP, KI), rel=1e-5)


def test_gamma_without_integral_term():
    assert control.exact_gamma(0.14, 0.0) == pytest.approx(1.0)
    assert control.exact_gamma(1.5, 0.0) == pytest.approx(1 / 3)


def test_unstable_gains_are_refused():
    with pytest.raises(ag.DescriptionError, match="unstable"):
        control.exact_gamma(2.5, 0.1)
    with pytest.raises(ag.DescriptionError, match="kp"):
        control.exact_gamma(-1.0, 0.1)

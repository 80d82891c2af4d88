"""The robots of the showcase against closed forms and balances."""

import numpy as np
import pytest

import anguilla as ag

pytestmark = pytest.mark.xdist_group("showcase")


@pytest.fixture(scope="module")
def showcase(example):
    return example("showcase")


def test_cantilever_is_an_elastica(showcase):
    # theta counts upwards, EI theta'' = (F + w (L - s)) cos(theta): the weight at the tip and that of the strip
    from scipy.integrate import solve_bvp

    eq = showcase.result.found["cantilever"]
    beam, L = eq.robot.part("beam"), 0.5
    EI, w, F = 207e9 * 0.02 * 0.001**3 / 12, 7800 * 0.02 * 0.001 * 9.81, 0.03 * 9.81
    s = np.linspace(0, L, 200)
    found = solve_bvp(
        lambda s, y: [y[1], (F + w * (L - s)) * np.cos(y[0]) / EI, np.cos(y[0]), np.sin(y[0])],
        lambda a, b: [a[0], b[1], a[2], a[3]], s, np.zeros((4, 200)), tol=1e-9,
    )  # fmt: skip
    np.testing.assert_allclose(eq.position(beam.tip)[[0, 2]], found.y[2:, -1], atol=2e-6)


def test_spring_follows_the_formula_of_wahl(showcase):
    # k = G d^4 / (8 D^3 n) of a close coil loaded along its axis
    robot = showcase.module.helix_spring()
    wire = robot.part("wire")
    axis = wire.tip.offset_by((0, 0.02, 0))  # y of the sections points to the axis
    place = []
    for force in (-0.1, -0.2):
        robot.loads[0].force, robot.loads[0].moment = (0, 0, force), (0, 0.02 * force, 0)
        place.append(ag.statics(robot).position(axis)[2])
    shear = 207e9 / 2.6
    assert 0.1 / (place[0] - place[1]) == pytest.approx(shear * 0.002**4 / (8 * 0.04**3 * 5), rel=0.02)


def test_trunk_bends_to_arcs(showcase):
    module = showcase.module
    robot = module.trunk()
    robot.gravity = (0, 0, 0)
    pressure, area, d = 3e4, 1.2e-4, 0.014
    eq = ag.statics(robot, inputs={"low_1": pressure})
    EI = 4e5 * np.pi * 0.025**4 / 4
    # the chamber pushes at y = d: it bends away from it, kappa = p A d (1 + stretch) / EI nearly
    kappa = eq.strain(robot.part("low"), [0.075])[0, 2]
    assert abs(kappa) == pytest.approx(pressure * area * d / EI, rel=0.06)
    bent = eq.pose(robot.part("high").tip)[:3, 0]
    assert bent[1] < 0.0  # away from +y


def test_eel_does_not_move_its_centre(showcase):
    run = showcase.result.found["eel"]
    body = run.robot.part("body")
    speed = np.linalg.norm(run.twist(body.tip)[:, 3:], axis=1).max()
    assert np.abs(run.momentum).max() < 1e-3 * body.rod.mass * speed  # the time step's own error
    assert np.ptp(run.position(body.tip)[:, 1]) > 0.02  # it wriggles


def test_bow_is_symmetric_and_its_string_pulls_along_itself(showcase):
    eq = showcase.result.found["bow"]
    upper, lower = eq.position(eq.robot.part("upper").tip), eq.position(eq.robot.part("lower").tip)
    np.testing.assert_allclose(upper * [-1, 1, 1], lower, atol=1e-9)
    assert upper[2] < -0.6 * np.sin(np.radians(10)) - 0.03  # bent further than its rest shape
    # moment at the root of a limb: the force of the string times its distance
    moment = eq.wrench(eq.robot.part("upper"), [0.0])[0, 1]
    assert abs(moment) == pytest.approx(60.0 * abs(upper[2]), rel=1e-6)


def test_tripod_carries_its_weight(showcase):
    eq = showcase.result.found["tripod"]
    robot, total = eq.robot, np.zeros(3)
    for k in (1, 2, 3):
        leg = robot.part(f"leg_{k}")
        total += eq.pose(leg.root)[:3, :3] @ eq.wrench(leg, [0.0])[0, 3:]
    mass = 0.1 + 3 * 1000 * np.pi * 1e-4 * 0.3
    np.testing.assert_allclose(total, [0.3, 0, -9.81 * mass], rtol=1e-6, atol=1e-6)


def test_pendulum_keeps_its_energy_but_for_damping(showcase):
    run = showcase.result.found["pendulum_string"]
    after = run.energy["total"][run.t > 0.21]
    assert np.ptp(after) < 5e-3 * run.energy["kinetic"].max()


def test_drone_hovers(showcase):
    run = showcase.result.found["flying_gripper"]
    assert np.abs(run.position(run.robot.part("drone").frame)).max() < 0.01


def test_tendons_curl_the_octopus(showcase):
    eq = showcase.result.found["octopus_arm"]
    tip = eq.position(eq.robot.part("arm").tip)
    assert np.linalg.norm(tip[:2]) > 0.05 and tip[2] > -0.4


def test_whip_follows_its_shoulder(showcase):
    run = showcase.result.found["whip"]
    np.testing.assert_allclose(run["whip.angle"], 0.9 * np.sin(5 * run.t), atol=1e-9)


def test_swimmer_goes_head_first(showcase):
    run = showcase.result.found["swimmer"]
    root = run.position(run.robot.part("eel").root)
    assert root[-1, 0] < -0.1  # a wave that runs to the tail drives the head ahead, towards -x
    assert np.abs(root[:, 2]).max() < 1e-9  # in its plane

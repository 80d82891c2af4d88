"""Motions inside PyTorch and JAX: the same states, and gradients that equal differences."""

import sys

import numpy as np
import pytest

import anguilla as ag
from anguilla.bridges import Motion

DT, STEPS = 0.01, 10


def build(p=(1e6, 0.3)):
    """A floating head (a ball among its coordinates) with a soft tail: modulus and length."""
    robot = ag.Robot("floating", gravity=(0, 0, -1.0))
    head = robot.add(ag.RigidBody(0.2, inertia=1e-3 * np.eye(3)), at=robot.ground, joint=ag.Free(), name="head")
    material = ag.Material(young=float(p[0]), poisson=0.4, density=1000, damping=0.01)
    rod = ag.Rod(float(p[1]), ag.Circle(0.02), material, ag.kirchhoff(2, twist_modes=1), intervals=3)
    tail = robot.add(rod, at=head.at((0.03, 0, 0)), name="tail")
    robot.actuate("left", ag.Tendon(tail, ag.parallel(y=0.01)))
    robot.actuate("up", ag.Tendon(tail, ag.parallel(z=0.01)))
    return robot


def motion():
    tip = build().parts[1].tip
    return Motion(build, duration=STEPS * DT, dt=DT, frames=[tip, tip.offset_by((0.01, 0.02, 0))], tolerance=1e-13)


def given():
    rng = np.random.default_rng(0)
    n = build().size
    return (
        0.5 + 3.0 * rng.random((STEPS + 1, 2)),  # far enough from slack
        0.4 * rng.standard_normal(n),
        0.3 * rng.standard_normal(n),
        np.array([1e6, 0.3]),
    )


def score(q, v, x, sin, total):
    """A cost of the outputs that uses all of them."""
    return total(sin(3.0 * x[:, 0])) + total(x[-1, 1] ** 2) + 0.1 * total(v**2) + total(sin(q))


def numeric(arguments, which, way, h):
    def value(step):
        changed = [x.copy() for x in arguments]
        changed[which] = changed[which] + step * h * way
        m = motion()
        return score(*m.outputs(m.run(*changed)), np.sin, np.sum)

    a, b, c, d = (value(step) for step in (-2, -1, 1, 2))
    return (a - 8 * b + 8 * c - d) / (12 * h)


def ways():
    rng = np.random.default_rng(1)
    directions = [rng.standard_normal(x.shape) for x in given()]
    directions[3] *= given()[3]
    return directions, (1e-2, 3e-4, 3e-4, 1e-4)


def check(slopes):
    directions, steps = ways()
    for which in range(4):
        expected = numeric(given(), which, directions[which], steps[which])
        assert np.sum(np.asarray(slopes[which]) * directions[which]) == pytest.approx(expected, rel=1e-6)


def test_vector_jacobian_product():
    m, arguments = motion(), given()
    run = m.run(*arguments)
    q, v, x = m.outputs(run)
    assert m.run(*arguments) is run  # remembered
    by_x = np.zeros_like(x)
    by_x[:, 0], by_x[-1, 1] = 3.0 * np.cos(3.0 * x[:, 0]), 2.0 * x[-1, 1]
    check(m.pull(run, np.cos(q), 0.2 * v, by_x, arguments[3]))


def test_torch():
    torch = pytest.importorskip("torch")
    from anguilla.bridges.torch import differentiable

    simulate = differentiable(motion())
    tensors = [torch.tensor(x, requires_grad=True) for x in given()]
    score(*simulate(*tensors), torch.sin, torch.sum).backward()
    check([x.grad.numpy() for x in tensors])
    # an optimiser step lowers the cost; starts may be left out
    fixed = Motion(build(), duration=STEPS * DT, dt=DT, frames=[build().parts[1].tip])
    pulls = torch.zeros((STEPS + 1, 2), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([pulls], lr=0.5)
    costs = []
    for _ in range(5):
        optimiser.zero_grad()
        cost = torch.sum((differentiable(fixed)(pulls)[2][-1, 0] - torch.tensor([0.3, 0.1, 0.1])) ** 2)
        cost.backward()
        optimiser.step()
        costs.append(float(cost.detach()))
    assert costs[-1] < 0.98 * costs[0]


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from anguilla.bridges.jax import differentiable

    jnp = jax.numpy
    simulate = differentiable(motion())

    def cost(inputs, q, v, design):
        return score(*simulate(inputs, q, v, design), jnp.sin, jnp.sum)

    arguments = [jnp.asarray(x) for x in given()]
    check(jax.grad(cost, argnums=(0, 1, 2, 3))(*arguments))
    m = motion()
    assert float(jax.jit(cost)(*arguments)) == pytest.approx(
        score(*m.outputs(m.run(*given())), np.sin, np.sum), rel=1e-12
    )
    with pytest.raises(ValueError, match="give the start"):
        simulate(arguments[0])


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_missing_library_is_named(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"anguilla.bridges.{name}", raising=False)
    with pytest.raises(ImportError, match=rf"needs {name}: pip install {name}, or pip install '.\[{name}\]'"):
        __import__(f"anguilla.bridges.{name}")
    monkeypatch.delitem(sys.modules, f"anguilla.bridges.{name}", raising=False)


def test_doors():
    inputs, q, v, design = given()
    with pytest.raises(ag.DescriptionError, match="function of design parameters"):
        motion().run(inputs, q, v)
    with pytest.raises(ag.DescriptionError, match=r"shape \(11, 2\)"):
        motion().run(inputs[:, :1], q, v, design)
    with pytest.raises(ag.DescriptionError, match="need a function that makes"):
        Motion(build(), duration=0.1, dt=DT).run(inputs, q, v, design)
    with pytest.raises(ag.DescriptionError, match="robot must be"):
        Motion(3, duration=0.1, dt=DT)

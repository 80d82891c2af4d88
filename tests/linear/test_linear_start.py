"""A long soft chain that is clamped level is found from a rough start."""

import numpy as np

import anguilla as ag


def test_long_soft_chain_hangs_from_a_rough_start():
    rubber, chain = ag.Material(young=1e6, poisson=0.5, density=1000), ag.Robot("chain")
    at = chain.ground
    for _ in range(256):
        at = chain.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3), intervals=10), at=at).tip
    guess = np.zeros(chain.size)
    guess[chain.coordinates().index("rod.bend_y[0]")] = np.pi / 2 / 0.3
    hanging = ag.statics(chain, start=guess)
    weight = 1000 * np.pi * 0.01**2 * 9.81 * 256 * 0.3
    force = hanging.wrench(chain.parts[0], [0.0])[0, 3:]
    x, _, z = hanging.position(at)
    assert hanging.status.counters["load_steps"] == 1 and -76.8 < z < -76.7 and 0.0 < x < 0.05
    np.testing.assert_allclose(np.linalg.norm(force), weight, rtol=1e-6)


def test_a_long_soft_chain_clamped_level_is_found_from_straight():
    """Its rods are longer than the length in which they bend; the same shape as from a guess of it."""
    rubber = ag.Material(young=1e6, poisson=0.5, density=1000, damping=0.01)
    chain = ag.Robot("chain")
    at = chain.ground
    for _ in range(80):
        at = chain.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3), intervals=10), at=at).tip
    guess = np.zeros(chain.size)
    guess[chain.coordinates().index("rod.bend_y[0]")] = np.pi / 2 / 0.3
    found, near = ag.statics(chain), ag.statics(chain, start=guess)
    assert near.status.counters["load_steps"] == 1 < found.status.counters["load_steps"]
    np.testing.assert_allclose(found.q * 0.3, near.q * 0.3, rtol=0, atol=1e-8)
    assert found.position(at)[2] < -0.99 * 80 * 0.3

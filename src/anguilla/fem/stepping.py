"""Steps of a soft body in motion: Newton on the balance at the end of a step, with a factorised tangent kept over steps.

A step is told by where the nodes are at its end. Rates and accelerations of all nodes follow from it by the scheme; those of
the nodes of a rigid part are then made those of a rigid motion, so that what the scheme cannot know across a turn does not
add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anguilla.errors import DescriptionError, SolverError
from anguilla.fem.contact import Grip, Touched, impulses, weight_of
from anguilla.fem.equilibrium import REACH, WORDS, as_state, grip_of
from anguilla.fem.inertia import mass_blocks, mass_matrix, multiply
from anguilla.fem.linear import LinearSolver, make_solver
from anguilla.fem.mesh import Floats
from anguilla.fem.moves import Goal, Moves, Placed, moves_of, placed
from anguilla.fem.results import SoftEquilibrium
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.fem.viscosity import Prony, Rayleigh, Viscosity
from anguilla.solve.newton.method import KeptSolver, Newton
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.events import SNAP, Jump
from anguilla.solve.steps.schemes import Coefficients, ended, factors, unmoved

__all__ = ["Motion"]

APART = 1e-2  # of a step: over which the motion of moved points is differentiated
PART = 0.5  # of a correction with a kept tangent: its solve; the rest are the forces
SEEN, FINEST = (
    2e3,
    1e-4,
)  # error of the accelerations of a step, in tolerances; smallest length, over the size of the body
OFF = 1e-6  # of the size of the body: moved points that start farther from where they are told to be are refused


class _At(NamedTuple):
    """What is known of a step: its end, forces (n, 3) that are left, those of the unknowns."""

    state: SoftState
    force: Floats
    left: Floats


class _Step:
    """The balance of one step, as a problem for Newton's method; its unknown is the state at its end."""

    reach = REACH

    def __init__(self, motion: Motion, efforts: Floats, t: float, where: Placed) -> None:
        self.motion, self.efforts, self.t, self.where = motion, efforts, t, where
        self.by = factors(motion.scheme, motion.dt)
        self.v0, self.a0 = unmoved(motion.scheme, motion.dt, motion.v, motion.a, motion.acc)
        self.gain, self.history = motion.viscosity.step(motion.dt)
        self.correct: Callable[[_At], Floats] | None = None
        # an error d of a step is one of d / dt^2 of the acceleration: short steps, which are many, must be more exact
        felt = SEEN * motion.dt**2 * float(np.abs(motion.acc).max())
        self.scale = float(np.clip(felt, FINEST * motion.size, motion.size))

    def _rates(self, state: SoftState) -> tuple[Floats, Floats, Floats]:
        """Positions, velocities and accelerations (n, 3) where the step is balanced."""
        cq, cv, ca = self.by
        d = state.x - self.motion.x
        x = state.x if cq == 1.0 else self.motion.x + cq * d
        v, a = self.v0 + cv * d, self.a0 + ca * d
        if len(self.where.nodes):
            v[self.where.nodes], a[self.where.nodes] = self.where.v, self.where.a
        return x, v, a

    def evaluate(self, state: SoftState) -> _At | None:
        """Forces where the step is balanced; None if an element is inside out."""
        m = self.motion
        x, v, a = self._rates(state)
        energy, force, _ = m.system.evaluate(
            SoftState(x, state.rotations), self.efforts, t=self.t, gain=self.gain, history=self.history, grip=m.grip
        )
        if not np.isfinite(energy):
            return None
        force += m.matrix @ (a + m.rayleigh.alpha * v)
        if m.rayleigh.beta:
            force += m.rayleigh.beta * multiply(m.system, m.stiff(self.efforts, self.t), v)
        return _At(state, force, m.system.unknowns.gather(x, force[None])[0])

    def factorise(self, at: _At) -> Callable[[_At], Floats] | None:
        """Factor the tangent of the step."""
        m, (cq, cv, ca) = self.motion, self.by
        x = self._rates(at.state)[0]
        _, _, blocks = m.system.evaluate(
            SoftState(x, at.state.rotations), self.efforts, t=self.t, stiffness=True, gain=self.gain,
            history=self.history, blocks=m.blocks, grip=m.grip,
        )  # fmt: skip
        blocks *= cq
        if m.rayleigh.beta:
            blocks += m.rayleigh.beta * cv * m.stiff(self.efforts, self.t)
        blocks[:, [0, 4, 8]] += (ca + m.rayleigh.alpha * cv) * m.mass[:, None]
        solver, u = m.system.solver, m.system.unknowns
        try:
            solver.factor(u.fold(x, blocks, at.force))
        except SolverError:
            return None
        m.factored = solver.count
        self.correct = lambda now: solver.solve(-now.left[None])[0].reshape(-1, 3)
        return self.correct

    def measure(self, at: _At, step: Floats) -> tuple[float, float]:
        """Largest displacement of a node, over what it is compared to, and over the size of the body."""
        length = self.motion.system.unknowns.length(at.state.x, step)
        return length / self.scale, length / self.motion.size

    def move(self, at: _At, step: Floats, part: float) -> SoftState:
        """The end of the step after a part of a correction."""
        return SoftState(*self.motion.system.unknowns.move(at.state.x, at.state.rotations, part * step))

    def improves(self, at: _At, new: _At, step: Floats, part: float, near: bool) -> bool:
        """Anything that is not inside out; where things may touch, what the same tangent would correct by less."""
        if near or self.motion.system.touching is None or self.correct is None:
            return True
        return self.measure(new, self.correct(new))[0] <= (1.0 - 0.25 * part) * self.measure(at, step)[0]


class Motion:
    """A body on its way.

    Attributes:
        state: where it is, with positions x (n, 3) [m].
        v: (n, 3) velocities [m/s].
        t: time [s].
        mass: (nb,) blocks of the mass [kg].
        iterations: of Newton's method so far.

    """

    state: SoftState
    v: Floats
    a: Floats
    acc: Floats
    _stiff: Floats | None

    def __init__(
        self, system: SoftSystem, dt: float, scheme: Coefficients, viscosity: Sequence[Prony] | None,
        rayleigh: Rayleigh | None, tolerance: float,
    ) -> None:  # fmt: skip
        self.system, self.dt, self.scheme = system, dt, scheme
        self.viscosity, self.rayleigh = Viscosity(system, viscosity), rayleigh or Rayleigh()
        if scheme.mid < 1.0 and self.viscosity.active:
            raise DescriptionError("Midpoint supports bodies without viscosity: use Newmark, HHT or GeneralisedAlpha.")
        if scheme.mid < 1.0 and system.unknowns.parts:
            raise DescriptionError(
                "Midpoint supports bodies without rigid parts: use Newmark, HHT or GeneralisedAlpha."
            )
        if scheme.mid < 1.0 and system.touching is not None:
            raise DescriptionError("Midpoint supports bodies without contact: use Newmark, HHT or GeneralisedAlpha.")
        self.grip: Grip | None = None
        self.touched: Touched | None = None
        self._masses: LinearSolver | None = None
        self.tolerance = tolerance
        self.size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
        patience = float(np.clip(PART * system.solver.worth, 2.0, 25.0))
        self.newton, self.strict = Newton(tolerance, 50, chord=True, patience=patience), Newton(tolerance, 25)
        self.mass = mass_blocks(system)
        self.matrix = mass_matrix(system, self.mass)
        self.blocks = np.zeros((len(self.mass), 9))
        self.iterations, self.memory, self.factored = 0, KeptSolver(), -1

    @property
    def x(self) -> Floats:
        """Positions (n, 3) [m] of the nodes."""
        return self.state.x

    @property
    def factorisations(self) -> int:
        """Tangents factored so far."""
        return self.memory.factorisations

    def stiff(self, efforts: Floats, t: float) -> Floats:
        """Blocks of the stiffness at the start of the step, for Rayleigh's damping."""
        if self._stiff is None:
            self._stiff = self.system.evaluate(self.state, efforts, t=t, stiffness=True, touching=False)[2]
        return self._stiff

    def begin(self, start: SoftEquilibrium | None, efforts: Floats, moves: Moves | None) -> None:
        """Go to the start, at rest but for what is moved."""
        self.state, self.goals = as_state(self.system, start), moves_of(self.system, moves)
        self.count, self.origin, self._stiff = 0, 0.0, None
        where = placed(self.system, self.goals, 0.0, APART * self.dt)
        far = np.abs(where.x - self.x[where.nodes])
        if far.size and far.max() > OFF * self.size:
            raise DescriptionError(
                f"moves: at t = 0 s a moved point is told to be {far.max():.3g} m from where the body starts: give start=, "
                "an equilibrium with these moves, or a motion that begins there."
            )
        self.v = np.zeros_like(self.x)
        self.v[where.nodes] = where.v
        self.viscosity.start(self.x)
        self.memory.forget()
        if self.system.touching is not None:
            self.grip = grip_of(self.system, self.state if start is None else start)
            self._remember()
        self.a = self.acc = self._accelerations(efforts, where)

    def _accelerations(self, efforts: Floats, where: Placed) -> Floats:
        """Accelerations (n, 3) that balance the start (without viscosity and contact)."""
        u = self.system.unknowns
        _, force, blocks = self.system.evaluate(self.state, efforts, stiffness=True, blocks=self.blocks, touching=False)
        given = np.zeros_like(self.x)
        given[where.nodes] = where.a
        force += self.matrix @ (given + self.rayleigh.alpha * self.v)
        blocks[:] = 0.0
        blocks[:, [0, 4, 8]] = self.mass[:, None]
        self.system.solver.factor(u.fold(self.x, blocks, np.zeros_like(force)))
        return given + u.spread(self.x, self.system.solver.solve(-u.gather(self.x, force[None]))[0].reshape(-1, 3))

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.origin + self.count * self.dt

    def across(self, efforts: Callable[[float], Floats], jumps: Sequence[Jump]) -> tuple[bool, str]:
        """One step with jumps of what acts in it, in pieces that end at each; (whether it went well, why not)."""
        dt, count, origin, t = self.dt, self.count, self.origin, self.t
        end, ok, words = t + dt, True, ""
        for jump in [*jumps, None]:
            until = end if jump is None else min(jump.at, end)
            if until - t > SNAP * dt:
                self.dt, self.origin, self.count = until - t, t, 0
                self._regrip()
                self.memory.forget()
                ok, words = self.step(efforts, at=None if jump is None else jump.before)
                t = until
            if jump is not None and ok:
                self._jolt(efforts, jump)
        self.dt, self.origin, self.count = dt, origin, count + ok
        self._regrip()
        self.memory.forget()
        return ok, words

    def _jolt(self, efforts: Callable[[float], Floats], jump: Jump) -> None:
        """Change the accelerations by what a jump makes of them, as far as steps can follow it: as a step would."""
        u, solver, (cq, _, ca) = self.system.unknowns, self.system.solver, factors(self.scheme, self.dt)
        _, before, _ = self.system.evaluate(self.state, efforts(jump.before), t=jump.before, touching=False)
        _, after, blocks = self.system.evaluate(
            self.state, efforts(jump.after), t=jump.after, stiffness=True, gain=self.viscosity.step(self.dt)[0],
            blocks=self.blocks, touching=False,
        )  # fmt: skip
        blocks *= cq
        blocks[:, [0, 4, 8]] += ca * self.mass[:, None]
        solver.factor(u.fold(self.x, blocks, after))
        change = solver.solve(u.gather(self.x, (before - after)[None]))[0].reshape(-1, 3)
        self.a = self.acc = self.acc + ca * u.spread(self.x, change)
        self.viscosity.jolt()

    def step(
        self, efforts: Callable[[float], Floats], goals: Mapping[str, Goal] | None = None, *, at: float | None = None
    ) -> tuple[bool, str]:
        """One step; (whether it went well, why not). Moved points without a function go to new goals evenly.

        Loads are those where the scheme asks for them, or at a time [s] that is given.
        """
        t, end = self.origin + (self.count + self.scheme.mid) * self.dt, self.origin + (self.count + 1) * self.dt
        self.goals = self.goals if goals is None else dict(goals)
        led = placed(self.system, self.goals, end, APART * self.dt)
        if goals is not None and len(led.nodes):
            led = replace(led, v=(led.x - self.x[led.nodes]) / self.dt)
        where = led if self.scheme.mid == 1.0 else self._midway(led)
        self._stiff = None
        t = t if at is None else min(t, at)
        problem = _Step(self, efforts(t), t, where)
        if self.factored != self.system.solver.count:
            self.memory.forget()  # somebody else has used the solver of this body
        moving, still = self._guess(led, self.dt * self.v), self._guess(led, np.zeros_like(self.v))
        for newton, guess in ((self.newton, moving), (self.strict, moving), (self.strict, still)):
            problem.correct = self.memory.solve
            out = newton.solve(problem, guess, self.memory)
            self.iterations += out.iterations
            if out.status == CONVERGED:
                self._accept(out.x, led)
                return True, ""
            self.memory.forget()
        return False, WORDS[out.status]

    def _midway(self, at: Placed) -> Placed:
        """Moved points where the midpoint rule takes its balance."""
        now = self.v[at.nodes]
        mean = (at.x - self.x[at.nodes]) / self.dt
        return Placed(at.nodes, at.x, mean, 2.0 * (mean - now) / self.dt)

    def _guess(self, at: Placed, step: Floats) -> SoftState:
        """Where a step (n, 3) of the nodes would lead, with moved points where they are told to be."""
        x, rotations = self.x + step, self.state.rotations
        x[at.nodes] = at.x
        if self.system.unknowns.parts:
            x, rotations = self.system.unknowns.settled(x, rotations)
        return SoftState(x, rotations)

    def _accept(self, state: SoftState, at: Placed) -> None:
        """Go to the end of a step."""
        v, a, acc = ended(self.scheme, self.dt, state.x - self.x, self.v, self.a, self.acc)
        if len(at.nodes):
            v[at.nodes], a[at.nodes], acc[at.nodes] = at.v, at.a, at.a
        for nodes in self.system.unknowns.parts:
            v[nodes], (a[nodes], acc[nodes]) = rigid_rates(state.x[nodes], v[nodes], (a[nodes], acc[nodes]))
        self.state, self.v, self.a, self.acc = state, v, a, acc
        self.viscosity.accept(state.x, self.dt)
        if self.system.touching is not None:
            self._remember()
            self._push()
        self.count += 1

    def _remember(self) -> None:
        """Note what touches, and what that means for the next step."""
        touching = self.system.touching
        assert touching is not None
        self.touched = touching.touched(self.x, grip=self.grip)
        self._regrip()

    def _regrip(self) -> None:
        """What points remember in a step of the present length."""
        if self.system.touching is not None and self.touched is not None:
            weight = weight_of(self.scheme, self.dt)
            self.grip = self.system.touching.grip(self.x, root=self.touched.root, rate=1.0 / self.dt, weight=weight)

    def _push(self) -> None:
        """Let contact act as an impulse at the end of the step: see `contact.weight_of`."""
        touching, u = self.system.touching, self.system.unknowns
        assert touching is not None and self.touched is not None
        force = np.zeros_like(self.x)
        touching.spread(-self.touched.force, self.touched.point, force)
        if not force.any():
            return
        if self._masses is None or u.parts:
            self._masses = self._masses or make_solver(self.system.solver.name, u.points, u.rows, u.cols)
            blocks = np.zeros((len(self.mass), 9))
            blocks[:, [0, 4, 8]] = self.mass[:, None]
            self._masses.factor(u.fold(self.x, blocks, np.zeros_like(force)))
        pushed = u.spread(self.x, self._masses.solve(u.gather(self.x, force[None]))[0].reshape(-1, 3))
        v, a, acc = impulses(self.scheme, self.dt, pushed)
        self.v, self.a, self.acc = self.v + v, self.a + a, self.acc + acc


def rigid_rates(x: Floats, v: Floats, accelerations: tuple[Floats, Floats]) -> tuple[Floats, tuple[Floats, Floats]]:
    """Velocities and accelerations (k, 3) of points x (k, 3), as those of the nearest rigid motion."""
    arm = x - x.mean(axis=0)
    inertia = np.sum(arm**2) * np.eye(3) - arm.T @ arm

    def turn(rates: Floats) -> Floats:
        return np.linalg.solve(inertia, np.cross(arm, rates).sum(axis=0))

    spin = turn(v)
    inward = np.cross(spin, np.cross(spin, arm))
    found = [a.mean(axis=0) + np.cross(turn(a - inward), arm) + inward for a in accelerations]
    return v.mean(axis=0) + np.cross(spin, arm), (found[0], found[1])

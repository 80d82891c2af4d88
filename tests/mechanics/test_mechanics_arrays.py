"""The arrays of a compiled robot, made all at once, against plain loops over links and packs; and how the work grows."""

import copy
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import anguilla as ag
from anguilla.compiler.lanes import LANES
from anguilla.compiler.table import Arrays
from anguilla.mechanics.grid import SAME, rod_grid
from anguilla.mechanics.tree import FIXED, PACK_SIZE, PHI, PLACE_SIZE, PSI, TERM, columns_of, workspace

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1100.0, damping=0.01)


def arm():
    """Two rods of one description, a free span, a body on a ball, a leg from the middle of a rod, loads everywhere."""
    robot = ag.Robot(gravity=(0.0, 0.0, -9.81))
    rod = ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.Strains(twist=1, bend_y=5, bend_z=3, stretch=ag.PiecewiseConstant(2)))
    near = robot.add(rod, at=robot.ground, name="near")
    far = robot.add(rod, at=near.tip, joint=ag.Revolute("y", stiffness=0.2, rest=0.1, damping=0.01), name="far")
    hand = robot.add(ag.RigidBody.box((0.02, 0.03, 0.04), mass=0.05), at=far.tip, joint=ag.Spherical(), name="hand")
    leg = ag.Rod(0.2, ag.Rectangle(0.01, 0.02), RUBBER, ag.kirchhoff(2), rest=ag.ConstantCurvature(bend_z=2.0))
    leg = robot.add(leg, at=near.section(0.11), pose=(0.0, 0.02, 0.0), name="leg")
    robot.actuate("pull", ag.Tendon([near, far], ag.helical(0.005, 0.4)))
    robot.actuate("leg", ag.Tendon(leg, ag.parallel(y=0.004), span=(0.02, 0.17), by="length", compliance=1e-5))
    robot.load(ag.Spring(leg.tip, hand.at((0.01, 0.0, 0.0)), stiffness=20.0))
    robot.load(ag.DistributedWrench(far, force=(0.0, 1.0, 0.0)))
    robot.load(ag.Contact(leg, ag.HalfSpace(offset=-0.2), 1e4))
    return robot


def hinges(count, children=1):
    robot = ag.Robot()
    made = []
    for k in range(count):
        at = made[(k - 1) // children].at((0.1, 0.0, 0.0)) if made else robot.ground
        made.append(robot.add(ag.RigidBody.sphere(0.03, mass=0.1), at=at, joint=ag.Universal("y", "z")))
    return robot


def chain(count):
    robot = ag.Robot()
    at = robot.ground
    for k in range(count):
        rod = robot.add(ag.Rod(0.2, ag.Circle(0.01), RUBBER, ag.kirchhoff(3)), at=at)
        robot.actuate(f"t{k}", ag.Tendon(rod, ag.parallel(y=0.004)))
        robot.load(ag.Wrench(rod.section(0.07), force=(0.0, 0.0, 1.0)))
        at = rod.tip
    return robot


def flat():
    robot = ag.Robot(gravity=(0.0, -9.81, 0.0))
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(3, stretch_modes=1)), at=robot.ground)
    robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=rod.tip, joint=ag.Revolute("z"))
    return robot


ROBOTS = {"arm": arm, "hinges": lambda: hinges(7, 2), "chain": lambda: chain(3), "flat": flat}
robots = pytest.mark.parametrize("make", ROBOTS.values(), ids=ROBOTS)


def tables(tree):
    """Of every link, by a plain loop: node, its place among the links, and its table (packs, 2, 4)."""
    links = [i for i, kind in enumerate(tree.kind) if kind != FIXED]
    for rank, i in enumerate(links):
        packs = tree.own_packs[tree.segment[i]]
        flat = tree.basis[tree.basis_at[i] : tree.basis_at[i] + 2 * LANES * packs]
        yield i, rank, flat.reshape(2, packs, LANES).transpose(1, 0, 2)


@robots
def test_terms_hold_the_basis_of_every_link(make):
    tree = ag.Model(make()).tree
    values, seen = tree.term_value.reshape(-1, LANES, 2, LANES), np.zeros(len(tree.term), dtype=bool)
    assert tree.term_value.size == TERM * len(tree.term)
    expected = np.zeros_like(values)
    for i, rank, table in tables(tree):
        s, record = tree.segment[i], rank // LANES
        mine = range(tree.term_at[record], tree.term_at[record + 1])
        for k, own in enumerate(table):
            pack = tree.own_pack[s] + k
            found = [n for n in mine if tree.term[n, 1] == LANES * pack]
            assert len(found) == int(np.any(own)) or len(found) == 1
            for n in found:
                assert tree.term[n, 0] == LANES * tree.strains[s, tree.pack_slot[pack]]
                expected[n, :, :, rank % LANES] = own.T
                seen[n] = True
    assert seen.all() and np.array_equal(values, expected)


@robots
def test_scratch_memory_holds_the_basis_in_the_own_columns(make):
    tree = ag.Model(make()).tree
    columns = workspace(tree).columns.copy()
    for i, _, table in tables(tree):
        s = tree.segment[i]
        count = tree.last[s] - tree.first[s] + 1
        for k, own in enumerate(table):
            row = (tree.path_packs[s] + k) * count + i - tree.first[s]
            at = int(tree.columns_at[s]) + int(row) * int(PACK_SIZE)
            for field, value in zip((PHI, PSI), own, strict=True):
                place = slice(at + int(field), at + int(field) + LANES)
                assert np.array_equal(columns[place], value)
                columns[place] = 0.0
    assert not columns.any()


@robots
def test_columns_of_nodes_are_those_of_their_path_and_their_own(make):
    tree = ag.Model(make()).tree
    nodes = np.arange(len(tree.parent))
    found = list(zip(*columns_of(tree, nodes), strict=True))
    expected = []
    for i in nodes:
        s = tree.segment[i]
        path = tree.path[tree.path_at[s] : tree.path_at[s] + tree.path_packs[s]].tolist()
        above, parents = s, []  # the packs of all segments it hangs on, found by walking up
        while above > 0:
            above = tree.segment[tree.parent[tree.first[above]]]
            parents = [*range(tree.own_pack[above], tree.own_pack[above] + tree.own_packs[above]), *parents]
        assert path == parents
        count = tree.last[s] - tree.first[s] + 1
        for k, pack in enumerate([*path, *range(tree.own_pack[s], tree.own_pack[s] + tree.own_packs[s])]):
            record = int(tree.columns_at[s]) // int(PACK_SIZE) + k * count + i - tree.first[s]
            expected.append((i, pack, record * int(PACK_SIZE), record * int(PLACE_SIZE)))
    assert found == expected


@robots
def test_the_packs_of_a_subtree_are_counted(make):
    tree = ag.Model(make()).tree
    below = [set() for _ in tree.first]
    for s in range(len(tree.first)):
        own, above = range(tree.own_pack[s], tree.own_pack[s] + tree.own_packs[s]), s
        below[s].update(own)
        while above > 0:
            above = tree.segment[tree.parent[tree.first[above]]]
            below[above].update(own)
    assert tree.sub_packs.tolist() == [len(packs) for packs in below]


@pytest.mark.parametrize("places", [[], [0.0, 0.8], [0.33, 0.1, 0.33, 0.33 + 1e-10, 0.4, 0.7999999999999]])
def test_attachments_are_inserted_as_one_by_one(places):
    strains = ag.Strains(bend_z=ag.PiecewiseConstant((0.25, 0.5)))
    rod = ag.Rod(0.8, ag.Circle(0.03), RUBBER, strains)
    plain, cut = rod_grid(rod, []), rod_grid(rod, places)
    X, left, right = plain.X, plain.left, plain.right
    for place in sorted(places):
        if np.min(np.abs(X - place)) > SAME * rod.length:
            at = np.searchsorted(X, place)
            X, left, right = np.insert(X, at, place), np.insert(left, at, 0.0), np.insert(right, at, 0.0)
    assert np.array_equal(cut.X, X) and np.array_equal(cut.left, left) and np.array_equal(cut.right, right)
    assert np.allclose(cut.X[cut.panels], [0.0, 0.2, 0.4, 0.8], rtol=0.0, atol=1e-15)


def flattened(table):
    for name in table._fields:
        value = getattr(table, name)
        yield from flattened(value) if isinstance(value, Arrays) else [(name, value)]


def test_rods_that_share_a_description_are_as_good_as_equal_ones():
    def make(shared):
        robot = ag.Robot()
        rods = [ag.Rod(0.2, ag.Tube(0.01, 0.005), RUBBER, ag.reissner(3), rest=ag.Helix(0.05, 0.02)) for _ in range(3)]
        at = robot.ground
        for k in range(3):
            part = robot.add(rods[0 if shared else k], at=at)
            robot.load(ag.Wrench(part.section(0.05 if k < 2 else 0.08), force=(1.0, 0.0, 0.0)))
            at = part.tip
        return ag.Model(robot)

    one, other = make(True), make(False)
    for (name, a), (_, b) in zip(flattened(one.tree), flattened(other.tree), strict=True):
        assert np.array_equal(a, b), name


def test_the_difference_slope_of_a_routing_does_not_depend_on_the_other_points():
    routing = ag.FunctionRouting(function=lambda X: (0.01 * np.cos(3.0 * X), 0.01 * X**2))
    X = np.array([1e-4, 0.02, 0.5])
    together = routing.slope(X)
    assert np.array_equal(together, np.concatenate([routing.slope(x) for x in X]))
    exact = np.stack([0.0 * X, -0.03 * np.sin(3.0 * X), 0.02 * X], axis=1)
    assert np.allclose(together, exact, rtol=0.0, atol=1e-9)


def test_a_copy_of_a_robot_is_independent_of_it():
    robot = arm()
    twin = copy.deepcopy(robot)
    before = [(name, value.copy()) for name, value in flattened(ag.Model(twin).tree)]
    near, far = robot.parts[:2]
    assert twin.parts[0].rod is twin.parts[1].rod  # what is shared stays shared
    assert all(part.robot is twin and part.parent.robot is twin for part in twin.parts)
    assert all(frame.robot is twin for load in twin.loads for frame in load.frames)
    near.rod.material.young = 5e6
    near.rod.length = 0.31
    far.joint.stiffness = 7.0
    robot.parts[2].body.mass = 1.0
    for (name, a), (_, b) in zip(before, flattened(ag.Model(twin).tree), strict=True):
        assert np.array_equal(a, b), name


def calls(work):
    """Number of calls of functions, Python's and compiled ones, while something is done."""
    count = [0]

    def note(_frame, event, _argument):
        count[0] += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count[0]


@pytest.mark.parametrize("make", [chain, hinges, lambda n: hinges(n, 2)], ids=["rods", "chain", "tree"])
def test_the_work_of_compilation_grows_with_the_parts(make):
    few, many = make(15), make(60)
    ag.Model(few), ag.Model(many)  # whose values of bases are kept
    small, large = calls(lambda: ag.Model(few)), calls(lambda: ag.Model(many))
    assert large < 4.2 * small


def test_many_tendons_on_one_rod_need_little_more_than_each():
    def make(count):
        robot = ag.Robot()
        rod = robot.add(ag.Rod(0.2, ag.Circle(0.01), RUBBER, ag.kirchhoff(3), intervals=40), at=robot.ground)
        for k in range(count):
            robot.actuate(f"t{k}", ag.Tendon(rod, ag.parallel(y=1e-4 * k)))
        return robot

    one, many = make(1), make(21)
    ag.Model(one), ag.Model(many)
    each = (calls(lambda: ag.Model(many)) - calls(lambda: ag.Model(one))) / 20
    assert each < 250  # and not for each of the 40 intervals


def test_the_memory_of_a_model_grows_with_the_parts_and_scratch_memory_comes_later():
    def most(count):
        robot = chain(count)
        ag.Model(robot)
        tracemalloc.start()
        try:
            model = ag.Model(robot)
            return model, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (_, few), (model, many) = most(15), most(60)
    assert many < 4.4 * few
    assert workspace(model.tree).columns.nbytes < 0.1 * many  # blocks share their memory
    dense = ag.Model(chain(60), linear="dense")
    assert workspace(dense.tree).columns.nbytes > 20 * many  # of the dense tangent, only when something is evaluated


def test_blocks_share_what_only_the_tangent_needs_of_their_rods():
    robot = ag.Robot(
        "bush"
    )  # records of four intervals are shared by rods of different blocks, and stay until both are done
    at = robot.ground
    for k in range(24):
        rod = robot.add(ag.Rod(0.2, ag.Circle(0.01), RUBBER, ag.kirchhoff(3), intervals=5), at=at)
        robot.add(
            ag.RigidBody.sphere(0.02, mass=0.01),
            at=rod.section(0.1),
            joint=ag.Spherical() if k % 2 else ag.Revolute("y"),
        )
        at = rod.tip if k % 3 else at
    model, dense = ag.Model(robot, linear="tree"), ag.Model(robot, linear="dense")
    assert len(model.workspace.jets) < 0.5 * len(workspace(model.tree).jets)
    q, v = np.random.default_rng(3).uniform(-1.0, 1.0, (2, model.size))
    for rates in (0.0 * v, v, 0.0 * v):  # what one state leaves behind is not found in the next
        whole = dense.evaluate(q, rates).tangent(3.0, 20.0)
        np.testing.assert_allclose(model.evaluate(q, rates).tangent(3.0, 20.0), whole, atol=1e-12 * np.abs(whole).max())


def test_kernels_can_be_compiled_before_there_is_scratch_memory():
    text = "from anguilla.mechanics.tree import Workspace; raise SystemExit(Workspace._numba_type_ is None)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


@pytest.mark.parametrize(
    ("joint", "packs"),
    [
        (ag.Free(), 3),
        (ag.Spherical(), 3),
        (ag.Planar("z"), 1),
        (ag.Universal("x", "y"), 1),
        (ag.Cylindrical("z"), 1),
        (ag.Revolute("z"), 1),
    ],
)
def test_coordinates_of_a_joint_share_packs(joint, packs):
    """Axes of a chain, up to four, stand in one pack of columns; so does the first coordinate of a ball."""
    robot = ag.Robot()
    robot.add(ag.RigidBody(mass=1.0, inertia=(1.0, 2.0, 2.5)), at=robot.ground, joint=joint)
    tree = ag.Model(robot).tree
    assert tree.own_packs.sum() == packs
    assert len(set(tree.lane.tolist())) == joint.size

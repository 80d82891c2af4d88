"""What acts on a tree and what holds it together: frozen tables, the inputs of one instant, and scratch memory.

Everything that may depend on time lies in one flat `row`: loads, inputs of actuators, targets of constraints. A time loop
copies the entries that change into it, step by step. Four kinds of load share two small protocols:

- a *frame load* acts on one node: its wrench, and the 6 x 18 block of its derivative with respect to the motion of that
  node (`frames.py`); thrusters, magnets, fluids, contacts and loads written in Python are of this kind;
- a *strain load* acts on the strains at the Gauss points of an interval (`tendon.py`, `muscle.py`);
- a *pair load* acts on two nodes: two wrenches and the 12 x 24 block of their derivative (`pairs.py`); springs, spans of
  tendons and closures of loops are of this kind;
- a *constraint* is a row phi = 0 with a multiplier, the size of its own load (`constraints.py`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anguilla.compiler.jit import inline
from anguilla.compiler.table import Arrays
from anguilla.mechanics.relaxing import Relaxing
from anguilla.mechanics.tree import Floats, Ints

# Places in Loads.row: step [s], time [s], gravity (3), then what `Loads.at` points to.
DT, TIME, GRAVITY, REST = 0, 1, 2, 5
# Places in Loads.at: where in the row stand the wrenches (6 each), efforts (n), inputs of actuators, poses of closures (12
# each), motions of driven coordinates (3 each), stresses of muscles (12 per interval), rates of twist constraints, and what
# frame loads ask for
WRENCH, EFFORT, INPUT, POSE, MOTION, STRESS, RATES, FRAME = range(8)

# Frame loads: the motion of a node, 18 numbers: small rotation, displacement, then angular velocity, velocity, angular
# acceleration and acceleration, all in world axes.
# Kinds that others ask for; `frames.py` numbers the rest.
USER, THRUSTER, CONTACT = range(3)
# Constraints
TRANSLATION, ROTATION, TWIST, LENGTH = range(4)
# Columns of the tables below
KIND, NODE, ROW, FROM, TO = range(5)  # Frames.table
WHICH, AXIS_A, AXIS_B = 1, 2, 3  # Constraints.table, after KIND
PAIR, SINCE, UNTIL, FIRST, LAST, ITSELF, OWN = range(7)  # Touches.table
# Touches.law; PUSHED is the mass [kg] of what a part pushes whose motion is given, else 0
STIFF, SMOOTH, DAMPING, FRICTION, SLIP, GRIP, CLEAR, FORWARD, BACKWARD, SIDEWAYS, SCALES, ROLLING, PUSHED, LAW = range(
    14
)
NEAR, HITS, KNOWN, SEEN, QUIET, SILENT, BENT, COUNT = range(8)  # Touches.count
CONSTANTS = 32  # columns of Frames.data


class Cables(Arrays):
    """Tendons and chambers along rods."""

    link: Ints  # (stretches, 2) ROD link that a piece runs along, and the actuator it belongs to
    data: Floats  # (stretches, 14) per Gauss point: offset D, slope D', quadrature weight x tension per unit of input
    friction: Floats  # (actuators,) Coulomb coefficient
    factor: Floats  # (stretches, 2) scratch: part of the tension left by friction at the Gauss points
    path: Ints  # (places, 3) along lines with friction: 1 for a span, its number or that of a stretch, actuator
    slip: Floats  # (places, 2, 2) state: bristles and lengths of line from there to the far end, at the start of a step
    slips: Floats  # (places, 2, 2) scratch: the same now


class Muscles(Arrays):
    """Active stresses of rods."""

    link: Ints  # (m,) ROD link
    gain: Floats  # (m, 12) stiffness x quadrature weight on the strains at the two Gauss points


class Frames(Arrays):
    """Frame loads."""

    table: Ints  # (f, 5) kind, node, place in the row, first and last + 1 of its sources
    source: npt.NDArray[np.uint64]  # (k, 2) columns and places of the packs that move the node
    inside: Ints  # (f,) loads, block by block
    at: Ints  # (blocks + 1,) first of a block's
    data: Floats  # (f, CONSTANTS) constants
    grid: Floats  # flat: coefficients of all grids of signed distances (`distance.py`)
    wrench: Floats  # (f, 6) scratch
    block: Floats  # (f, 6, 18) scratch
    state: Floats  # (f, 3, 6) internal state, its rate at the start of the step, and now


class Streams(Arrays):
    """Streams of water along fish, at nodes of their rods (`stream.py`)."""

    table: Ints  # (s, 6) node, first lane of the rod and number of lanes, place in basis, first and last + 1 of its sources
    basis: Floats  # flat: values of the rod's coordinates at the node
    strain: Ints  # flat: the strain each of them is of
    data: Floats  # (s, 24) constants, as of a fluid
    source: npt.NDArray[np.uint64]  # (k, 3) extended pack, columns and places of the packs that move the node
    inside: Ints  # (s,) streams, block by block
    at: Ints  # (blocks + 1,) first of a block's
    stress: Floats  # (s, 6) scratch: Phi
    change: Floats  # (k, 4, 6) scratch: its derivative


class Pairs(Arrays):
    """Pair loads: springs, spans of tendons, closures and twist constraints."""

    table: Ints  # (p, 4) nodes, first and last + 1 of its packs
    pack: Ints  # (b,) extended packs that move either node, pair by pair
    lanes: Ints  # (b,) lanes of them that move anything, the first ones
    lane_at: Ints  # (b + 1,) first of those lanes, counted over all packs
    source: npt.NDArray[np.uint64]  # (k, 4) which of those packs, which node, columns, places; block by block
    at: Ints  # (blocks + 1,) first of a block's
    jacobian: Floats  # (b, 24, 4) scratch
    block: Floats  # (p, 12, 24) scratch
    far_at: Ints  # (p,) where the tangent of a pair begins in `far`, in a robot cut into blocks
    far: Floats  # flat scratch: of each pair (lanes x lanes) of those of its packs that move anything
    spring: Ints  # (s,) pair
    spring_data: Floats  # (s, 3) stiffness, rest length, damping
    span: Ints  # (spans, 2) pair, and the actuator it belongs to
    factor: Floats  # (spans,) scratch: part of the tension left by friction
    least: Floats  # (1,) [m^2] square of the distance below which two nodes are as good as one


class Touches(Arrays):
    """Contact between parts: points of one, in clusters, against intervals of a rod or the shape of a body (`touch.py`)."""

    # (t, 7) pair, first and last + 1 of its clusters, of its intervals or bodies, 1 for a rod with itself, 2 for a
    # ring, first in `held`
    table: Ints
    # (t, 12) stiffness, smooth, damping, friction, slip, tangential over normal stiffness, arc length kept apart; parts of
    # the friction forward, backward and sideways, 1 or -1 if the points or the surface have scales; arm of rolling resistance
    law: Floats
    cluster: Ints  # (c, 4) first and last + 1 of its points, and their nodes
    reach: Floats  # (c, 2) length of the interval, and how far balls of points reach beyond it
    point: Floats  # (k, 14) see `gliding.py`
    curve: Ints  # (m, 2) nodes of an interval
    span: Floats  # (m, 4) its length, radius at both ends, arc length at its start
    body: Ints  # (b,) node of a body
    size: Floats  # (b,) radius of a ball around its origin that contains it
    shape: Floats  # (b, ...) see `distance.py`
    grid: Floats  # flat: values of all grids
    slot: Ints  # (nodes,) which of the nodes that contacts act on, or -1
    node: Ints  # (w, 2) those nodes, some twice, and what they are: see `touch.py`
    entry: Ints  # (v + 1,) first of the packs that move each of those
    source: npt.NDArray[np.uint64]  # (e, 3) extended pack, columns, places
    at: Ints  # (blocks + 1,) first of those nodes on a block
    skin: Floats  # (2,) [m] gap below which things are listed as near; [m/s] speed of a step that was judged, or -1
    held: (
        Floats  # (h, 2, 7) state: bristles of a point, 1 + where on the other part they are, or 0; bristles of rolling
    )
    before: (
        Floats  # (h, 8) state: depth of a point, its rate and the normal at the start of a step; see `touch_steps.py`
    )
    deep: Floats  # (h, 5) scratch: the same now
    ball: Floats  # (c + m + b, 4) scratch: balls around clusters, intervals and bodies
    anchor: Floats  # the same when the list was made
    rest: Floats  # (w, 6) scratch: places and axes of the nodes when the list was made
    free: Floats  # (3,) scratch: how much things may move from there before they can touch, see `touch.py`
    near: Ints  # (l, 3) scratch, the list: contact, cluster, interval or body
    # (7,) scratch: how many are near, how many touch, 1 if the list was made, 1 if `deep` has anything in it; and of what is
    # around things: 1 if there is room, 4 if so and the list is new, 2 while contacts are left out, 3 after that; 1 if
    # `wrench` and `told` are empty; 0 if `held` is, which a loop of steps knows from its first step on
    count: Ints
    hits: Ints  # (x, 4) scratch, what touches: contact, cluster, point, interval or body
    hit: Floats  # (x, 18) scratch, see `touch.py`
    used: Ints  # (v,) scratch: 1 for nodes that something touches
    wrench: Floats  # (v, 6) scratch: moment and force of all contacts on those nodes, world axes
    told: Floats  # (t, 10) scratch, what results ask for: see `touch.py`
    jacobian: Floats  # (e, 12, 4) scratch
    lane: Floats  # (packs, 33, 4) scratch, see `touch_change.py`
    change: Floats  # (packs, 16, 4) scratch
    seat: Ints  # (v,) scratch: row of `turn` of a node, or -1
    seated: Ints  # (r,) scratch: nodes that have one, in order; the first one says how many
    turn: Floats  # (r, packs, 6, 4) scratch: changes of the moment and the force on a node
    drift: Floats  # (c + m + b, 4) scratch: velocities of what has balls, and how much faster parts of it may be


class Constraints(Arrays):
    """Rows phi = 0 with multipliers."""

    table: Ints  # (m, 4) kind, which (closure, twist constraint or actuator), axes
    value: Floats  # (m,) value of a ROTATION; compliance of a LENGTH [m/N]
    closure: Ints  # (c,) pair
    twist: Ints  # (w,) pair
    twist_data: Floats  # (w, 12) coefficients of the twists of the two nodes, in their axes
    input_row: Ints  # (actuators,) constraint that finds the tension, or -1 when the input gives it
    entry: Ints  # (m + 1,) first of the packs that a row depends on
    pack: Ints  # (e,) extended packs, row by row; a pack may stand there twice
    span_entry: Ints  # (spans,) first pack of a span in the row of its length, or -1
    link_entry: Ints  # (stretches,) the same for the own packs of the rod that a piece of a line runs along
    jacobian: Floats  # (e, 4) scratch: derivative
    column: Floats  # (e, 4) scratch: derivative of the residual with respect to the multiplier
    diagonal: Floats  # (m,) scratch: derivative with respect to the own multiplier
    slack: Ints  # (m,) scratch: 1 for a tendon found slack
    length: Floats  # (actuators,) scratch: length of lines


class Loads(Arrays):
    """Tables (read-only), the row of inputs at one instant, and scratch memory."""

    row: Floats  # inputs at this instant
    at: Ints  # offsets into row
    wrench: Ints  # (m, 2) node of a given wrench, and 1 if it turns with it
    wrench_in: Ints  # (m,) wrenches, block by block
    wrench_at: Ints  # (blocks + 1,) first of a block's
    driven: Ints  # (k,) coordinates whose motion is given
    tension: Floats  # (actuators,) scratch: inputs of tendons [N] and chambers [Pa]
    cables: Cables
    muscles: Muscles
    frames: Frames
    streams: Streams
    pairs: Pairs
    touches: Touches
    constraints: Constraints
    relaxing: Relaxing


@inline
def has_more(loads):
    """Whether there is more than given wrenches, tendons along rods and muscles."""
    return len(loads.frames.table) + len(loads.pairs.table) + len(loads.constraints.table) > 0


@inline
def may_touch(loads):
    """Whether some load is contact."""
    found = len(loads.touches.table) > 0
    for f in range(len(loads.frames.table)):
        if loads.frames.table[f, KIND] == CONTACT:
            found = True
    return found

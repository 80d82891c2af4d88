"""Pages made from code, examples, robot files and notebooks: the API reference, and a page of each of the others."""

from __future__ import annotations

import ast
import inspect
import json
import re
from importlib import import_module
from pathlib import Path

from anguilla import interact
from anguilla.describe import Load

DOCS = Path(__file__).parent
ROOT = DOCS.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ROBOTS = sorted((ROOT / "examples" / "robots").glob("*.yaml"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# Pages of the reference: title, one sentence, module, and the names under headings. "*" stands for all the others.
DESCRIBE = {
    "Robot and parts": "Robot Part RodHandle BodyHandle JointHandle Volume Frame Closure",
    "Rods": "Rod Material Prony",
    "Sections": "Circle Tube Ellipse Rectangle GeneralSection taper Tapered EllipticProfile CrossSection SectionProperties",
    "anguilla.strains": "kirchhoff extensible_kirchhoff reissner planar spherical extensible_spherical universal stewart "
    "Strains STRAIN_NAMES",
    "Bases": "Basis Legendre Chebyshev Monomial FreeTip PiecewiseConstant PiecewisePolynomial FunctionBasis make_basis",
    "Rest shapes": "Straight ConstantCurvature Helix RestFunction RestShape",
    "Bodies": "RigidBody Shape",
    "anguilla.joints": "Fixed Revolute Prismatic Helical Cylindrical Universal Spherical Planar Free Joint Axis Ball",
    "Actuators": "Tendon Chamber Actuator Drive",
    "anguilla.routings": "parallel convergent helical FunctionRouting Routing",
    "anguilla.loads": "Wrench TipWrench DistributedWrench Spring Magnet Thruster Muscle UserLoad UserForce "
    "FrameMotion Load",
    "Contact": "Contact HalfSpace Sphere Pillar Capsule Box Cylinder Mesh HeightField Obstacle",
    "Constraints on velocities": "no_slip rolling TwistConstraint",
    "Water": "Fluid Hull Morison Lighthill ResistiveForce Buoyancy",
    "Gaits": "Gait TravellingWave GaitSum FadedGait StrainOffset StrainSteps ShapeFunction",
}
_PLACED = " ".join(DESCRIBE.values()).split()
DESCRIBE["anguilla.loads"] = " ".join(
    [DESCRIBE["anguilla.loads"], *(name for name in interact.__all__ if name not in _PLACED)]
)
SOLVE = {
    "Statics": "statics Flow ProjectiveFlow",
    "Dynamics": "simulate simulate_batch simulate_explicit Stepper BatchStepper GeneralisedAlpha HHT Newmark Midpoint",
    "Many runs": "sweep grid sample Sweep",
    "Results": "Equilibrium Trajectory load",
    "Equations of motion": "mass_matrix coriolis_matrix bias_forces gravity_forces stiffness damping actuation_matrix "
    "forward_dynamics Model Evaluation",
    "Small motions": "linearise LinearModel modes Modes stability Stability",
    "Branches": "trace Branch",
    "Gradients": "gradient Gradient Cost Reach Rest Sampled StateCost Travel Energy InputEffort sensitivities Sensitivities "
    "optimise_motion MotionPlan",
    "Identification": "identify Identified Measurements Marker Unknown Observer",
    "Swimming": "powers Powers strides Strides torque_envelope TorqueEnvelope",
    "Errors": "AnguillaError DescriptionError SolverError AnguillaWarning",
}
API = (
    ("describe", "Describe a robot", "What a user writes. All names are also in `anguilla` itself.", "anguilla", DESCRIBE),
    ("solve", "Solve, and read results", "All names are in `anguilla`.", "anguilla", SOLVE),
    ("files", "Robot files", "Read, check and write robot files.", "anguilla",
     {"": "read_robot write_robot read_urdf Expression Table",
      "anguilla.files": "FileError Problem RobotFile Template add_urdf read_file read_text_file robot_document "
      "robot_schema robot_text"}),
    ("view", "Pictures", "`anguilla.view(...)` is `anguilla.view.live.show`.", "anguilla",
     {"": "plot animate", "anguilla.view.page": "Animation",
      "anguilla.view.plots": "snapshots tip_history strain_map wrench_map phase energies",
      "anguilla.view.video": "write_video", "anguilla.view.live": "show play drive Shown",
      "anguilla.view.soft": "play_soft SoftShown"}),
    ("control", "Control", "Inverse kinematics, feedback, robustness.", "anguilla.control", {"": "*"}),
    ("sensors", "Sensors", "What a robot's instruments show; `robot.sense` puts them on.", "anguilla.sensors", {"": "*"}),
    ("env", "Learning", "Environments for Gymnasium.", "anguilla.env", {"": "*"}),
    ("fem", "Soft volumes", "Finite elements.", "anguilla.fem", {"": "*"}),
    ("mixed", "Volumes in robots", "Rods, bodies and soft volumes together.", "anguilla.mixed",
     {"": "MixedModel MixedEquilibrium MixedTrajectory MixedModes MixedRobotModel simulate statics",
      "anguilla.describe.volumes": "VolumeHandle Patch"}),
    ("shooting", "Shooting", "The strong form as a boundary-value problem (paper 003).", "anguilla.shooting",
     {"": "*"}),
)  # fmt: skip

GROUPS = (
    ("First steps", ("arm_release", "tendon_arm", "three_section_arm", "showcase")),
    ("Robots", ("four_bar", "six_leg_robot", "gripper_on_arm", "antagonistic_pair", "rolling_wheel", "steered_needle",
                "magnetic_catheter", "snake_on_the_ground", "lumen", "gripper",
                "octopus_pole", "overhand_knot", "plectoneme", "snake_on_pegs", "draped_rod")),
    ("Analysis and design", ("modes_of_an_arm", "euler_column", "snap_through_arch", "twisted_ring", "touching_ring",
                             "gradient_")),
    ("Soft volumes", ("paper002", "fem_", "silicone_gripper", "silicone_grasp", "soft_pinch", "soft_platform")),
    ("Paper 000: strain parametrisation", ("paper000",)),
    ("Paper 001: the eel", ("paper001", "reference_eel", "optimise_gait", "thrifty_eel")),
    ("Paper 003: optimal control", ("paper003",)),
    ("Paper 004: implicit Newton-Euler", ("paper004",)),
    ("Results of other papers", ("gazzola2018", "till2019", "rao2021", "renda2020", "bretl2014")),
    ("More", ("",)),
)  # fmt: skip


def write(folder: Path) -> None:
    """Write all pages; a file that would not change is left alone, so that Sphinx does not read it again."""
    pages = {f"api/{name}.md": reference(*rest) for name, *rest in API}
    if others():
        pages["api/solve.md"] = reference(
            "Solve, and read results", API[1][2], "anguilla", SOLVE | {"More": " ".join(others())}
        )
    pages["api.md"] = contents()
    pages["gallery.md"] = gallery()
    pages["showcase.md"] = showcase()
    pages["notebooks.md"] = notebooks()
    pages |= {f"examples/{path.stem}.md": example(path) for path in EXAMPLES}
    pages |= {f"robots/{path.stem}.md": robot(path) for path in ROBOTS}
    pages |= {f"notebooks/{path.stem}.md": notebook(path) for path in NOTEBOOKS}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# API reference --------------------------------------------------------------------------------------------------------


def contents() -> str:
    """The page that lists the reference."""
    rows = [f"| {{doc}}`api/{name}` | {intro} |" for name, _, intro, *_ in API]
    names = "\n".join(f"api/{name}" for name, *_ in API)
    head = "# API reference\n\nMade from the docstrings. Options after `*` are given by name; units are SI.\n\n"
    more = "\nThe algorithms of the papers in plain NumPy have a page of their own: {doc}`../reference_algorithms`.\n"
    return head + "| page | |\n|---|---|\n" + "\n".join(rows) + f"\n{more}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def reference(title: str, intro: str, module: str, groups: dict[str, str]) -> str:
    """One page of the reference."""
    text = [f"# {title}", "", intro, ""]
    for heading, names in groups.items():
        place = heading if heading.startswith("anguilla.") else module
        listed = names.split()
        if names == "*":  # but for what has its place among those of the package itself
            there, own = import_module(place), import_module("anguilla")
            listed = [name for name in there.__all__ if getattr(there, name) is not getattr(own, name, None)]
        if heading:
            text += [f"## {heading}", ""]
        for name in listed:
            text += ["```{eval-rst}", *directive(place, name), "```", ""]
    return "\n".join(text)


def directive(module: str, name: str) -> list[str]:
    """The autodoc directive of a public name."""
    thing = getattr(import_module(module), name)
    if inspect.isclass(thing):
        members = (
            [] if issubclass(thing, Exception) else ["   :members:", "   :inherited-members: Exception, object, tuple"]
        )
        if issubclass(thing, Load) and thing is not Load:  # the page has these answers of all loads once
            members += [f"   :exclude-members: {', '.join(name for name in vars(Load) if not name.startswith('_'))}"]
        return [f".. autoclass:: {module}.{name}", *members]
    if callable(thing):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. py:data:: {name}", "", f"   ``{thing!r}``"]


def others() -> list[str]:
    """Public names of the package that nobody has given a place yet."""
    placed = {name for *_, groups in API for names in groups.values() for name in names.split()}
    return [name for name in import_module("anguilla").__all__ if name not in placed and not name.startswith("__")]


# Gallery --------------------------------------------------------------------------------------------------------------


def story(path: Path) -> tuple[str, str]:
    """First line and the rest of the docstring of an example."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
    first, _, rest = text.partition("\n\n")
    return " ".join(first.split()), rest


def titled(name: str) -> str:
    """The name of a file as a title."""
    return re.sub(r"^paper(\d+) ", "", name.replace("_", " ")).capitalize()


def pictures(name: str) -> list[Path]:
    """Figures kept in docs/figures that an example draws: their names stand in its source."""
    if name == "arm_release":
        return [DOCS / "images" / "demo.png"]
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    wanted = set(re.findall(r'"([\w]+\.png)"', source)) | {f"{name}.png", f"{name.partition('_')[2]}.png"}
    family = name.split("_")[0]
    drawn = sorted(path for path in (DOCS / "figures").glob("*/*.png") if path.parent.name not in ("real", "showcase"))
    found = [path for path in drawn if path.name in wanted]
    return [path for path in found if path.parent.name == family] or found


def film(name: str) -> list[Path]:
    """The film of an example, or of a robot file with robot_ before its name, if there is one."""
    path = DOCS / "films" / f"{'robot_octopus_arm' if name == 'showcase' else name}.webp"
    return [path] if path.exists() else []


def shown(path: Path, title: str, up: str) -> str:
    """A picture in a page; `up` leads from the page to the folder of the documentation."""
    return f"![{title}]({up}{path.relative_to(DOCS).as_posix()})"


def card(title: str, text: str, picture: list[Path], code: str, page: str) -> list[str]:
    """A film or a picture with a title and a few words, which leads to a page."""
    image = [f"[{shown(picture[0], title, '../')}]({page})", ""] if picture else []
    return [":::{container} card", "", *image, f"[**{title}**]({page})", "", text, "", f"`{code}`", "", ":::", ""]


def gallery() -> str:
    """All examples, by kind, with a film or their first picture."""
    left = [path.stem for path in EXAMPLES]
    text = ["# Gallery of examples", ""]
    text += ["Every example is a Python file that a test runs, and whose numbers it checks. Run one with"]
    text += ["`python examples/tendon_arm.py FOLDER`: it prints its numbers and draws its figures there.", ""]
    for heading, prefixes in GROUPS:
        names = [name for prefix in prefixes for name in left if name.startswith(prefix)]
        left = [name for name in left if name not in names]
        if not names:
            continue
        text += [f"## {heading}", "", "::::{container} cards", ""]
        for name in names:
            first, _ = story(ROOT / "examples" / f"{name}.py")
            drawn = film(name) or pictures(name)
            text += card(titled(name), first, drawn, f"examples/{name}.py", f"examples/{name}.md")
        text += ["::::", ""]
    return "\n".join([*text, *hidden(f"examples/{path.stem}" for path in EXAMPLES)])


def showcase() -> str:
    """All robot files that have a film."""
    text = ["# Robots to start from", ""]
    text += ["Every robot of this page is a file in `examples/robots`. Copy one and change it, or drive it as it is:"]
    text += ["`anguilla view examples/robots/octopus_arm.yaml`.", "", "::::{container} cards", ""]
    for path in ROBOTS:
        found = film(f"robot_{path.stem}")
        if found:
            text += card(titled(path.stem), heading_of(path), found, path.name, f"robots/{path.stem}.md")
    return "\n".join([*text, "::::", "", *hidden(f"robots/{path.stem}" for path in ROBOTS)])


def heading_of(path: Path) -> str:
    """The first line of a robot file, which says what it is."""
    return path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def hidden(pages) -> list[str]:
    """A table of contents that the sidebar shows below the page, and the page itself does not."""
    return ["```{toctree}", ":hidden:", "", *pages, "```", ""]


def example(path: Path) -> str:
    """The page of an example: its story, pictures and source."""
    first, rest = story(path)
    drawn = [*film(path.stem), *pictures(path.stem)]
    text = [f"# {titled(path.stem)}", "", first, "", rest, ""]
    text += [line for each in drawn for line in (shown(each, titled(path.stem), "../../"), "")]
    text += [f"`python examples/{path.name} FOLDER` runs it.", ""]
    return "\n".join([*text, f"```{{literalinclude}} ../../../examples/{path.name}", ":language: python", "```", ""])


def robot(path: Path) -> str:
    """The page of a robot file: its film and its source."""
    text = [f"# {titled(path.stem)}", "", heading_of(path), ""]
    text += [shown(each, titled(path.stem), "../../") for each in film(f"robot_{path.stem}")]
    text += ["", f"`anguilla view examples/robots/{path.name}` drives it in the browser.", ""]
    return "\n".join(
        [*text, f"```{{literalinclude}} ../../../examples/robots/{path.name}", ":language: yaml", "```", ""]
    )


# Notebooks ------------------------------------------------------------------------------------------------------------


def cells(path: Path) -> list[tuple[str, str]]:
    """Kind and text of the cells of a notebook."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in found]


def notebooks() -> str:
    """The page that lists the notebooks."""
    text = [
        "# Notebooks",
        "",
        "Six short lessons to run and change. Robots, equilibria and motions show themselves in a cell:",
    ]
    text += ["a picture to turn and play, a table, curves. Start Jupyter in the folder `notebooks` of the sources.", ""]
    for path in NOTEBOOKS:
        first = cells(path)[0][1].partition("\n")
        text += [f"- [{first[0].lstrip('# ')}](notebooks/{path.stem}.md): {' '.join(first[2].split())}"]
    return "\n".join([*text, "", *hidden(f"notebooks/{path.stem}" for path in NOTEBOOKS)])


def notebook(path: Path) -> str:
    """A notebook as a page, without what its cells show."""
    text = [
        source if kind == "markdown" else f"```{{code-block}} python\n{source}\n```" for kind, source in cells(path)
    ]
    return "\n\n".join([*text, f"The file: {{download}}`{path.name} <../../../notebooks/{path.name}>`.", ""])

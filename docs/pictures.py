"""Pictures and films of the documentation: run after a change of what the viewer draws. Needs the extras view and browser.

python docs/pictures.py [films|live|demo|tutorial|maps|docs ...]: writes docs/films/*.webp and docs/images/*.png. Names after
`films` choose some of them: that of an example, or robot_ and that of a robot file.
"""

from __future__ import annotations

import io
import shutil
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

import anguilla as ag
from anguilla.files import read_file
from anguilla.view.live import drive
from anguilla.view.volumes import is_soft

DOCS = Path(__file__).parent
ROBOTS = DOCS.parent / "examples" / "robots"
GRAPHICS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


@contextmanager
def browser():
    """A page of a headless Chromium."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=GRAPHICS)
        yield opened
        opened.close()


def seen(opened, address: str, width: int, height: int, wait: int = 2500, act=None) -> Image.Image:
    """What a page looks like after a while [ms]."""
    page = opened.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    page.add_style_tag(content=".mantine-Notifications-root { display: none; }")
    page.wait_for_timeout(wait)
    if act is not None:
        act(page)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return picture


def keep(picture: Image.Image, path: Path, colours: int = 128, limit: float = 290e3) -> None:
    """Write a picture with so few colours that it stays below a size [bytes]."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        picture.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < limit or colours < 16:
            break
        colours = round(0.7 * colours)
    print(f"{path.relative_to(DOCS.parent)}   {path.stat().st_size / 1e3:.0f} kB", flush=True)


def solved(path: Path):
    """Equilibrium or motion of a robot file."""
    file = read_file(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        if not file.simulate:
            inputs = {name: value(0.0) if callable(value) else value for name, value in file.inputs.items()}
            return ag.statics(file.robot, inputs=inputs)
        options = {"duration": 1.0, "dt": 0.01} | {k: v for k, v in file.simulate.items() if k != "start"}
        start = None
        if "start" in file.simulate:
            held = {name: value(0.0) if callable(value) else value for name, value in file.inputs.items()}
            start = ag.statics(file.robot, inputs=held if file.simulate["start"] == "held" else None)
        return ag.simulate(file.robot, inputs=file.inputs, start=start, progress=False, **options)


FILM = (288, 216)  # pixels
NO_FILM = ("fem_speed.py", "showcase.py")
RATE = 12.0  # frames per second
LARGEST = 42e3  # bytes of a film; all together stay below 3 MB


def films(names: list[str]) -> None:
    """A short film of each robot file and of each example that returns a motion or an equilibrium of a robot."""
    folder = DOCS / "films"
    folder.mkdir(exist_ok=True)
    robots = [path for path in sorted(ROBOTS.glob("*.yaml")) if path.stem not in ("materials", "paper000_beam")]
    examples = [
        path for path in sorted((DOCS.parent / "examples").glob("*.py")) if path.stem not in ("fem_speed", "showcase")
    ]
    with browser() as opened:
        for path in [*robots, *examples]:
            kind = "robot_" if path.suffix == ".yaml" else ""
            if names and f"{kind}{path.stem}" not in names:
                continue
            try:
                result = solved(path) if kind else returned(path)
            except Exception as problem:  # the others are still drawn
                print(f"{path.name}: {problem}", flush=True)
                continue
            if result is not None:
                write_film(frames_of(opened, result), folder / f"{kind}{path.stem}.webp")


def returned(path: Path):
    """The last motion, or else the last equilibrium, in what an example returns."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(results_in(module.main()))
    motions = [x for x in found if np.ndim(getattr(x, "t", 0.0))]
    return motions[-1] if motions else found[-1] if found else None


def results_in(thing, depth: int = 3):
    """Motions and equilibria inside of tuples, dictionaries and classes."""
    if isinstance(thing, (ag.Trajectory, ag.Equilibrium)) or is_soft(thing):
        yield thing
    elif depth:
        inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else None
        if inside is None:
            inside = vars(thing).values() if hasattr(thing, "__dict__") else ()
        for part in inside:
            yield from results_in(part, depth - 1)


def frames_of(opened, result, size: tuple[int, int] = FILM) -> list[Image.Image]:
    """Pictures of a motion at equal times, drawn by the page that `animate` writes."""
    page = opened.new_page(viewport={"width": 2 * size[0], "height": 2 * size[1]})
    page.set_content(ag.animate(result).html)
    page.wait_for_function("document.body.dataset.state == 'ready'")
    page.add_style_tag(
        content="#head, #bar, #note { display: none !important; } body { background: white !important; }"
    )
    last, first = (float(result.t[-1]), float(result.t[0])) if np.ndim(getattr(result, "t", 0.0)) else (0.0, 0.0)
    count = int(np.clip(RATE * (last - first), 20, 36)) if last > first else 1
    pictures = []
    for t in np.linspace(first, last, count):
        page.evaluate(
            "t => { const s = document.getElementById('scrub'); s.value = t; s.dispatchEvent(new Event('input')); }", t
        )
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        pictures.append(picture.resize(size, Image.Resampling.LANCZOS))
    page.close()
    return pictures


def write_film(pictures: list[Image.Image], path: Path, largest: float = LARGEST) -> None:
    """Write a film as animated WebP, as well as its size allows."""
    for quality in (70, 55, 40, 25, 15):
        pictures[0].save(
            path,
            save_all=True,
            append_images=pictures[1:],
            duration=round(1000 / RATE),
            loop=0,
            quality=quality,
            method=6,
        )
        if path.stat().st_size < largest:
            break
    print(f"{path.relative_to(DOCS.parent)}   {path.stat().st_size / 1e3:.0f} kB", flush=True)


def live() -> None:
    """The viewer with sliders, after a click on two of them."""
    from importlib.resources import as_file, files

    with as_file(files("anguilla.cli").joinpath("templates", "tendon.yaml")) as path:
        robot = read_file(path).robot
    shown = drive(robot, port=8401, inputs={"a1": 8.0, "c2": 5.0})

    def pull(page):
        for number, part in ((0, 0.55), (4, 0.4), (8, 0.5)):
            box = page.locator(".mantine-Slider-root").nth(number).bounding_box()
            page.mouse.click(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
            page.wait_for_timeout(800)
        page.wait_for_timeout(2500)

    try:
        with browser() as opened:
            keep(seen(opened, shown.address, 1100, 760, 3000, pull), DOCS / "images" / "live.png")
    finally:
        shown.close()


def demo() -> None:
    """The page that `anguilla demo` writes."""
    import tempfile

    from anguilla.cli.demo import release

    _, _, run = release(duration=3.0)
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        page = ag.animate(run, Path(folder) / "demo.html")
        keep(seen(opened, page.as_uri(), 1000, 640, 1500), DOCS / "images" / "demo_page.png")
        write_film(frames_of(opened, run, (600, 400)), DOCS / "images" / "demo.webp", 190e3)


def docs() -> None:
    """The documentation itself, as built by `make docs`."""
    built = DOCS / "_build" / "html"
    with browser() as opened:
        keep(seen(opened, (built / "index.html").as_uri(), 1200, 800, 1000), DOCS / "images" / "docs.png", 64)


def tutorial() -> None:
    """The motion of the tutorial, by its own words."""
    import os
    import re
    import tempfile

    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            names: dict[str, object] = {}
            for block in blocks[:5]:
                exec(block, names)
        finally:
            os.chdir(here)
    stream = io.BytesIO()
    ag.plot(names["run"]).savefig(stream, format="png", dpi=80)
    keep(Image.open(stream).convert("RGB"), DOCS / "images" / "tutorial_motion.png", 128)


def maps() -> None:
    """A torque map and a phase portrait, of the eel."""
    from anguilla.view import plots

    run = ag.simulate(read_file(ROBOTS / "eel.yaml").robot, duration=2.0, dt=0.01)
    drawn = []
    for figure in (plots.wrench_map(run, run.robot.part("body"), "moment_z"), plots.phase(run, "body.bend_z[0]")):
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
        drawn.append(Image.open(stream).convert("RGB"))
    both = Image.new("RGB", (sum(p.width for p in drawn), max(p.height for p in drawn)), "white")
    both.paste(drawn[0], (0, 0))
    both.paste(drawn[1], (drawn[0].width, 0))
    keep(both, DOCS / "images" / "maps.png")


SINGLE = ("live", "demo", "tutorial", "maps", "docs")

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["films", *SINGLE]
    for name in SINGLE:
        if name in wanted:
            globals()[name]()
    if "films" in wanted:
        films([name for name in wanted if name not in ("films", *SINGLE)])

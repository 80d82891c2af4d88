"""Pictures of the documentation that show the viewer: run after a change of what it draws. Needs the extras view and browser.

python docs/pictures.py [showcase|live|demo|tutorial|maps|docs ...]: writes docs/figures/showcase/*.png and docs/images/*.png.
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
from anguilla.view.live import drive, play

DOCS = Path(__file__).parent
ROBOTS = DOCS.parent / "examples" / "robots"
GRAPHICS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
STILL = {"cantilever", "octopus_arm", "trunk", "tripod", "bow", "helix_spring", "three_section_arm", "six_leg_robot"}
WHEN = {"flying_gripper": 0.99, "whip": 0.55, "four_bar": 0.3}  # of the motion; 0.6 if not given


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


def only_the_scene(page) -> None:
    """Hide the panels of the viewer."""
    page.evaluate(
        "document.querySelectorAll('body *').forEach(e => {"
        " if (e.tagName !== 'CANVAS' && !e.querySelector('canvas')) e.style.visibility = 'hidden' })"
    )
    page.wait_for_timeout(300)


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
        if path.stem in STILL or not file.simulate:
            last = file.simulate.get("duration", 0.0)
            inputs = {name: value(last) if callable(value) else value for name, value in file.inputs.items()}
            return ag.statics(file.robot, inputs=inputs)
        options = {"duration": 1.0, "dt": 0.01} | {k: v for k, v in file.simulate.items() if k != "start"}
        start = None
        if "start" in file.simulate:
            held = {name: value(0.0) if callable(value) else value for name, value in file.inputs.items()}
            start = ag.statics(file.robot, inputs=held if file.simulate["start"] == "held" else None)
        return ag.simulate(file.robot, inputs=file.inputs, start=start, progress=False, **options)


def showcase(names: list[str]) -> None:
    """One picture for each robot file."""
    with browser() as opened:
        for path in sorted(ROBOTS.glob("*.yaml")):
            if path.stem in ("materials", "paper000_beam") or (names and path.stem not in names):
                continue
            result = solved(path)
            shown = play(result, port=8400)
            try:
                if len(shown.picture.t) > 1:
                    shown._play(False)
                    shown.seek(WHEN.get(path.stem, 0.6) * float(shown.picture.t[-1]))
                view = seen(opened, shown.address, 1500, 1000, act=only_the_scene)
            finally:
                shown.close()
            keep(cropped(view), DOCS / "figures" / "showcase" / f"{path.stem}.png", 160, 58e3)


def cropped(view: Image.Image, width: int = 400) -> Image.Image:
    """The part of a picture around the robot, which is what has colour, as 5 to 4."""
    pixels = np.asarray(view).astype(int)
    coloured = np.argwhere(np.ptp(pixels, axis=2) > 40)
    low, high = np.percentile(coloured, 0.2, axis=0), np.percentile(coloured, 99.8, axis=0)
    centre, size = 0.5 * (low + high), high - low
    tall = max(1.35 * size[0], 1.25 * size[1] / 1.25, 240.0)
    tall = min(tall, view.height, view.width / 1.25)
    top = float(np.clip(centre[0] - tall / 2, 0, view.height - tall))
    left = float(np.clip(centre[1] - 1.25 * tall / 2, 0, view.width - 1.25 * tall))
    part = view.crop((round(left), round(top), round(left + 1.25 * tall), round(top + tall)))
    return part.resize((width, round(width / 1.25)), Image.Resampling.LANCZOS)


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
    wanted = sys.argv[1:] or ["showcase", *SINGLE]
    for name in SINGLE:
        if name in wanted:
            globals()[name]()
    if "showcase" in wanted:
        showcase([name for name in wanted if name not in ("showcase", *SINGLE)])

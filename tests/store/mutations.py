"""Damaged files of every format that is read: `python mutations.py FOLDER FIRST COUNT KIND...` reads so many of each.

Each must load, or give an AnguillaError, within seconds and with the memory that the process is allowed. What else
happens is printed, one line of JSON for each; the seed says how to make the file again.
"""

import json
import random
import re
import resource
import shutil
import sys
import time
import traceback
import warnings
import zipfile
from pathlib import Path

MEMORY = 4_000_000_000  # [bytes] of addresses; the libraries themselves take 1.5e9
SECONDS = 3.0  # of computing for one file, on a machine that others use too
NASTY = [
    "", "~", "nan", ".inf", "-1", "0", "1e400", "9" * 400, "true", "[]", "{}", "[1, 2", "*x", "null", "1e308", "-1e308",
    "1e18", "'9**9**9**9'", "'().__class__'", "ground", "[[[]]]", "{type: rod}",
    "99999999999", "2147483647", "-2147483648", "1e-320",
    "18446744073709551615", "'" + "(" * 300 + "1", "\t", "é", "\0", "a b", "<x>", "../../etc/passwd", "100000000",
    "4294967296",
]  # fmt: skip


def of_bytes(raw, rng):
    """Damage bytes in one of many ways."""
    data = bytearray(raw)
    a = rng.randrange(len(data))
    b = min(len(data), a + rng.choice([1, 2, 4, 8, 16, 64, 512]))
    kind = rng.randrange(8)
    if kind <= 1:
        for _ in range(rng.choice([1, 1, 2, 8, 32])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        del data[a:]
    elif kind == 3:
        del data[a:b]
    elif kind == 4:
        data[a:a] = data[a:b]
    elif kind == 5:
        data[a:b] = rng.choice([b"\0", b"\xff", b"\x7f", b"\x80"]) * (b - a)
    elif kind == 6:
        c = rng.randrange(len(data))
        data[a:b], data[c : c + b - a] = data[c : c + b - a], data[a:b]
    else:
        data[a:b] = rng.choice([2**31 - 1, 2**63 - 1, 2**40, 1, 0]).to_bytes(8, rng.choice(["little", "big"]))
    return bytes(data)


def of_text(raw, rng):
    """Damage lines, words and numbers; sometimes bytes."""
    if rng.random() < 0.2:
        return of_bytes(raw, rng)
    lines = raw.decode("utf-8", "replace").splitlines()
    k, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(8)
    if kind == 0:
        del lines[k]
    elif kind == 1:
        lines.insert(k, lines[j])
    elif kind == 2:
        lines[k], lines[j] = lines[j], lines[k]
    elif kind == 3:
        place = rng.randrange(len(lines[k]) + 1)
        lines[k] = lines[k][:place] + rng.choice("{}[]:,'\"#&*!|>%@`-\\ \t\0é<>=/") + lines[k][place:]
    elif kind == 4:
        del lines[k:j]
    elif kind == 5:
        words = re.findall(r"\w+", " ".join(lines))
        lines[k] = re.sub(r"\w+", lambda m: rng.choice(words) if rng.random() < 0.3 else m[0], lines[k])
    else:
        words = re.findall(r"[-+\w.]+", lines[k])
        if words:
            lines[k] = lines[k].replace(rng.choice(words), rng.choice(NASTY), 1)
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def of_hdf5(path, rng, again=False):
    """Damage the bytes of a file, or what is in it: variables that lack, of other types and sizes, texts, facts."""
    if again or rng.random() < 0.5:  # what is damaged already is not opened to be damaged more
        path.write_bytes(of_bytes(path.read_bytes(), rng))
        return
    import h5py
    import numpy as np

    with h5py.File(path, "r+") as file:
        name = rng.choice(sorted(file))
        old = file[name][...]
        kind = rng.randrange(7)
        if kind == 0:
            del file[name]
        elif kind == 1:
            fact = rng.choice(sorted(file.attrs))
            file.attrs[fact] = rng.choice([b"\xff\xfe", "", "x", -1, 2**62, np.nan, [1, 2, 3], "[" * 2000])
        elif kind == 2:
            del file.attrs[rng.choice(sorted(file.attrs))]
        elif kind == 3 and old.dtype.kind in "iuf" and old.size:
            place = tuple(rng.randrange(n) for n in old.shape)
            file[name][place] = (
                rng.choice([np.nan, np.inf, -1.0, 0.0, 1e300, 1e-300, 2.0**31]) if old.dtype.kind == "f" else -1
            )
        elif kind == 4:
            names = [key for key in ("robot_file", "body_file") if key in file]
            if names:
                text = of_text(file[names[0]][()], rng).decode("utf-8", "replace").replace("\0", "")
                del file[names[0]]
                file.create_dataset(names[0], (), dtype=h5py.string_dtype())[()] = text
        else:
            scales = [[scale.name for scale in axis.values()] for axis in file[name].dims]
            del file[name]
            shape = tuple(max(0, n + rng.choice([0, 0, -1, 1])) for n in old.shape) if kind == 5 else old.shape
            made = file.create_dataset(
                name, shape, rng.choice(["f4", "i1", "u8", "S3", "f8", h5py.string_dtype(), "c16"])
            )
            for axis, kept in zip(made.dims, scales, strict=False):
                for scale in kept:
                    if scale and scale.strip("/") in file:
                        axis.attach_scale(file[scale])
    from anguilla.store.hdf5 import sealed

    path.write_bytes(sealed(path.read_bytes()))  # as if it had been written so


def of_archive(path, rng, again=False):
    """Damage the bytes of a zip, or the arrays in it."""
    if again or rng.random() < 0.5:  # what is damaged already is not opened to be damaged more
        path.write_bytes(of_bytes(path.read_bytes(), rng))
        return
    with zipfile.ZipFile(path) as kept:
        members = {name: kept.read(name) for name in kept.namelist()}
    name = rng.choice(sorted(members))
    kind = rng.randrange(5)
    if kind == 0:
        del members[name]
    elif kind == 1:  # a header that announces more
        members[name] = re.sub(
            rb"'shape': \(\d*", b"'shape': (" + rng.choice([b"9" * 6, b"9" * 12, b"0", b"-1"]), members[name]
        )
    elif kind == 2:
        swap = rng.choice([(b"<f8", b"<f4"), (b"<f8", b"|O8"), (b"<i8", b"<f8"), (b"<U", b"<V")])
        members[name] = members[name].replace(*swap)
    else:
        members[name] = of_bytes(members[name], rng)
    with zipfile.ZipFile(path, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as kept:
        for member, raw in members.items():
            kept.writestr(member, raw)


def plainly(damage):
    return lambda path, rng, again=False: path.write_bytes(damage(path.read_bytes(), rng))


def in_folder(path, rng, again=False):
    """Damage one of the files of a sweep."""
    file = rng.choice(sorted(path.iterdir()))
    file.write_bytes(of_text(file.read_bytes(), rng))


# how to damage, how to read ---------------------------------------------------------------------------------------------


def read_robot(path):
    from anguilla.files import read_file

    read_file(path)


def load(path):
    import anguilla as ag

    ag.load(path)


def read_mesh(path):
    from anguilla import fem

    fem.read_mesh(path)


def go_on(path):
    checkpointed(path)


def simulation():
    """A robot and its simulation, for checkpoints."""
    import anguilla as ag

    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.planar(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    return robot, {"duration": 0.2, "dt": 0.01, "inputs": {"pull": 1.0}}


def checkpointed(path):
    import anguilla as ag

    robot, options = simulation()
    return ag.simulate(robot, **options, checkpoint=path)


KINDS = {
    "robot.yaml": (plainly(of_text), read_robot),
    "robot.json.yaml": (plainly(of_text), read_robot),
    "links.urdf": (plainly(of_text), read_robot),
    "run.nc": (of_hdf5, load),
    "equilibrium.nc": (of_hdf5, load),
    "soft.nc": (of_hdf5, load),
    "loop.nc": (of_hdf5, load),
    "checkpoint.npz": (of_archive, go_on),
    "sweep": (in_folder, load),
    "mesh.vtk": (plainly(of_bytes), read_mesh),
    "mesh.vtu": (plainly(of_text), read_mesh),
    "mesh.msh": (plainly(of_text), read_mesh),
    "gmsh.msh": (plainly(of_text), read_mesh),
    "binary.msh": (plainly(of_bytes), read_mesh),
    "mesh.inp": (plainly(of_text), read_mesh),
    "mesh.mesh": (plainly(of_text), read_mesh),
}


def job(a, b):
    return {"sum": a + b, "row": [float(a)] * 100}


def make(folder):
    """Write one good file of every format."""
    import meshio
    import numpy as np

    import anguilla as ag
    from anguilla import fem
    from anguilla.control.loop import Run
    from anguilla.files import robot_document
    from anguilla.solve.steps import checkpoint

    robots = Path(__file__).parents[2] / "examples" / "robots"
    links = (robots / "two_link.urdf").read_text()
    text = (robots / "soft_finger.yaml").read_text()
    (folder / "robot.yaml").write_text(text.replace("materials", "extra_materials").replace("two_link", "extra_link"))
    (folder / "extra_materials.yaml").write_text((robots / "materials.yaml").read_text())
    (folder / "extra_link.urdf").write_text(links)
    (folder / "links.urdf").write_text(links)
    robot, options = simulation()
    (folder / "robot.json.yaml").write_text(json.dumps(robot_document(robot)[0], indent=1))
    ag.simulate(robot, **options).save(folder / "run.nc")
    ag.statics(robot).save(folder / "equilibrium.nc")
    mesh = fem.block((0.1, 0.03, 0.03), (3, 1, 1))
    body = fem.SoftBody("block", mesh, ag.Material(5e5, 1050, poisson=0.4))
    body.fix("base")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.014), (0.05, 0.0, 0.014), (0.095, 0.0, 0.014)]))
    fem.statics(body, inputs={"pull": 1.0}).save(folder / "soft.nc")
    columns = {"lengths": 2, "measured": 2, "goals": 2, "commands": 1, "positions": 3}
    arrays = {name: np.ones((5, count)) for name, count in columns.items()}
    Run(**arrays, saturated=np.zeros(5, bool), sensors=("a", "b"), actuators=("pull",)).save(folder / "loop.nc")
    seconds, checkpoint.SECONDS = checkpoint.SECONDS, 0.0
    try:
        run = checkpointed(folder / "kept.npz")
        shutil.copyfile(folder / "kept.npz", folder / "checkpoint.npz")  # it goes with its result
        del run
    finally:
        checkpoint.SECONDS = seconds
    ag.sweep(job, ag.grid(a=[1, 2, 3], b=[0.1, 0.2]), file=folder / "sweep", workers=1)
    for ending in ("vtk", "vtu", "msh", "inp", "mesh"):
        fem.write_mesh(folder / f"mesh.{ending}", mesh)
    plain = meshio.Mesh(mesh.points, [("tetra", mesh.tets)])
    for name, binary in (("gmsh.msh", False), ("binary.msh", True)):
        meshio.write(folder / name, plain, file_format="gmsh", binary=binary)


def fresh(source, target):
    """A copy of a file or folder in the place of what was there."""
    if target.is_dir():
        shutil.rmtree(target)
    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)


def damaged(target, kind, seed):
    """Damage a file as its seed says, once to three times."""
    rng = random.Random(f"{kind} {seed}")
    for k in range(rng.choice([1, 1, 1, 2, 3])):
        try:
            KINDS[kind][0](target, rng, again=k > 0)
        except (OSError, ValueError, KeyError, IndexError, RuntimeError, zipfile.BadZipFile):
            break  # damaged too much already to be damaged again


def prepared(kind, folder, first):
    """A good file and the place of damaged ones, after it was read there once: kernels and libraries are at hand."""
    source, target = Path(folder) / kind, Path(folder) / f"damaged_{first}" / kind
    target.parent.mkdir(exist_ok=True)
    for extra in Path(folder).glob("extra*"):
        shutil.copyfile(extra, target.parent / extra.name)
    fresh(source, target)
    KINDS[kind][1](target)
    return source, target


def read_damaged(kind, source, target, seeds):
    from anguilla.errors import AnguillaError

    read = KINDS[kind][1]
    outcomes, slowest = {"loaded": 0, "refused": 0}, 0.0
    for seed in seeds:
        fresh(source, target)
        damaged(target, kind, seed)
        print(json.dumps({"seed": seed}), flush=True)
        began = time.process_time()
        try:
            read(target)
            outcomes["loaded"] += 1
        except AnguillaError:
            outcomes["refused"] += 1
        except BaseException as error:
            trace = traceback.format_exc().splitlines()[-9:]
            print(
                json.dumps({"seed": seed, "wrong": f"{type(error).__name__}: {error}"[:300], "trace": trace}),
                flush=True,
            )
        spent = time.process_time() - began
        slowest = max(slowest, spent)
        if spent > SECONDS:
            print(json.dumps({"seed": seed, "wrong": f"it took {spent:.1f} s"}), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"done": kind, "peak": peak, "slowest": round(slowest, 2)} | outcomes), flush=True)


def main(folder, first, count, kinds):
    warnings.simplefilter("ignore")
    places = {kind: prepared(kind, folder, first) for kind in kinds}
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for kind, (source, target) in places.items():
        read_damaged(kind, source, target, range(first, first + count))


if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])

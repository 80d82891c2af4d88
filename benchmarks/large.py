"""Large robots against peers, in one run: the net of benchmarks/net.py and the chain of benchmarks/links.py.

    python benchmarks/large.py                            # net of 5, 10 and 15 meshes a side, chain of 64 links
    python benchmarks/large.py --cells 20                 # after: python benchmarks/net.py --cells 20 --reference
    python benchmarks/large.py --cells 5 --links 16       # smaller
    python benchmarks/large.py --no-peers                 # Anguilla alone

Every program tries its settings, from coarse to fine; a line of a table is its fastest one within 1 % of the reference (of
the side of the net, of the length of the chain), with the seconds of its loop. All on one thread, one after the other.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import links
import net
from environments import python_of
from measure import exponent

HERE = Path(__file__).resolve().parent
WITHIN = 0.01  # error that is compared at
NETS = {  # settings of Exudyn: motions, then equilibria
    "motion": [
        {"elements": e, "step": h, "spectral_radius": r, "tolerance": t}
        for e, h, r, t in (
            (1, 0.025, 0.6, 1e-2), (1, 0.025, 0.7, 1e-2), (1, 0.025, 0.7, 1e-3), (1, 0.02, 0.7, 1e-2), (1, 0.02, 0.7, 1e-3), (1, 0.01, 0.7, 1e-2),
            (1, 0.01, 0.7, 1e-3), (1, 0.01, 0.7, 1e-4), (2, 0.02, 0.7, 1e-3), (2, 0.01, 0.7, 1e-4),
        )
    ],
    "rest": [{"elements": e, "load_steps": 4, "tolerance": t} for e in (1, 2) for t in (1e-3, 1e-5)],
}  # fmt: skip
CHAINS = [
    {"elements": e, "step": h, "spectral_radius": r, "tolerance": 1e-3}
    for e, h, r in ((1, 0.1, 0.7), (1, 0.05, 0.7), (1, 0.04, 0.9), (1, 0.025, 0.7), (1, 0.02, 0.7), (2, 0.05, 0.7))
]


def peer(name: str, script: str, *arguments: str) -> list[dict]:
    """Records that a script of a peer prints; none if it is stopped after ten minutes."""
    command = [str(python_of(name)), str(HERE / "peers" / f"{script}.py"), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    except subprocess.TimeoutExpired:
        return []
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def fastest(records: list[dict]) -> dict | None:
    """The fastest record within the error, if any."""
    good = [record for record in records if record.get("error", 1.0) <= WITHIN]
    return min(good, key=lambda record: min(record["seconds"]), default=None)


def table(title: str, found: dict[str, list[dict]]) -> dict[str, float]:
    """Print the fastest setting of every program; returns its seconds by program."""
    print(f"\n{title}\n\n| program | error | seconds of the loop | times Anguilla | setting |\n|---|---|---|---|---|")
    best = {name: fastest(records) for name, records in found.items()}
    mine = best["anguilla"] and min(best["anguilla"]["seconds"])
    for name, record in best.items():
        if record is None:
            tried = [f"{line['error']:.1%}" if "error" in line else "fails" for line in found[name]]
            print(f"| {name} | none within {WITHIN:.0%} | - | - | tried: {', '.join(tried) or 'nothing'} |", flush=True)
            continue
        seconds = min(record["seconds"])
        share = "-" if mine is None else f"{seconds / mine:.2f}"
        setting = ", ".join(f"{key} {value}" for key, value in record["settings"].items() if value is not None)
        print(f"| {name} | {record['error']:.2%} | {seconds:.4g} | {share} | {setting} |", flush=True)
    return {name: min(record["seconds"]) for name, record in best.items() if record}


def nets(sizes: list[int], repeat: int, peers: bool) -> None:
    """Tables of the net, and how the time grows with the meshes a side."""
    grown: dict[str, dict[int, float]] = {}
    for cells in sizes:
        for kind in ("rest", "motion"):
            motion = kind == "motion"
            settings = net.PATH if motion else (net.COARSE, net.QUOTED, net.Setting(3))
            net.measure(cells, net.QUOTED, motion=motion)  # compiles
            found = {"anguilla": [net.measure(cells, each, repeat=repeat, motion=motion) for each in settings]}
            if peers:
                chosen = ["--cells", str(cells), "--repeat", str(repeat), "--settings", json.dumps(NETS[kind])]
                found["exudyn"] = peer("exudyn", "exudyn_net", *chosen, *([] if motion else ["--static"]))
            what = "a second of motion" if motion else "equilibrium"
            for name, seconds in table(f"Net of {cells} x {cells} meshes, {what}", found).items():
                grown.setdefault(f"{name}, {what}", {})[cells] = seconds
    for name, times in grown.items():
        if len(times) > 1:
            print(f"\n{name}: grows with power {exponent(list(times), list(times.values())):.2f} of the meshes a side")


def chains(sizes: list[int], repeat: int, peers: bool) -> None:
    """Tables of the chain."""
    for count in sizes:
        links.measure(count, links.QUOTED)  # compiles
        found = {"anguilla": [links.measure(count, each, repeat=repeat) for each in links.PATH]}
        if peers:
            chosen = ["--links", str(count), "--repeat", str(repeat), "--settings", json.dumps(CHAINS)]
            found["exudyn"] = peer("exudyn", "exudyn_links", *chosen)
            found["pyelastica"] = peer("pyelastica", "pyelastica_links", "--links", str(count), "--repeat", "1")
        table(f"Chain of {count} links, a second of motion", found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="*", default=[5, 10, 15])
    parser.add_argument("--links", type=int, nargs="*", default=[64])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    arguments = parser.parse_args()
    chains(arguments.links, arguments.repeat, not arguments.no_peers)
    nets(arguments.cells, arguments.repeat, not arguments.no_peers)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The Markdown table of a campaign."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

OUTCOMES = ("right", "said", "refused", "undecided", "wrong", "crash", "hang")
LIMIT = 0.02  # of the length: beyond, a motion is wrong


def reason_kind(reason: str) -> str:
    """A sentence without names and numbers, so that equal reasons are counted together."""
    plain = re.sub(r"(?<![A-Za-z])'[^']*'", "...", reason)
    plain = re.sub(r"(\.\.\.(, | and ))+\.\.\.", "...", plain)
    plain = re.sub(r"is singular: [^:.]*(\.[^:. ]+[^:.]*)* moves no mass", "is singular: ... moves no mass", plain)
    plain = re.sub(r"(?<![A-Za-z_])[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", plain)
    plain = re.sub(r"(#(, |%| and )?)+", "#", plain)
    plain = re.sub(r"nothing holds [^.;:]*", "nothing holds ...", plain)
    sentence = re.split(r"(?<=[a-z#)])\. ", plain)[0].rstrip(".")
    return sentence.replace("No equilibrium of ...: ", "").replace("The motion of ... ", "")[:140]


def table(records: list[dict], seed: int, seconds: float, workers: int) -> str:
    """Outcomes, refusals by reason, time, and how the library's own judge did."""
    count = Counter(record["outcome"] for record in records)
    total = len(records) or 1
    lines = [f"{len(records)} robots of seed {seed}, {seconds / 60.0:.1f} minutes on {workers} processes.", ""]
    lines += ["| outcome | robots | part | equilibria | motions |", "|---|---|---|---|---|"]
    for outcome in [*OUTCOMES, *sorted(set(count) - set(OUTCOMES))]:
        parts = [sum(r.get(kind, {}).get("outcome") == outcome for r in records) for kind in ("statics", "motion")]
        lines.append(
            f"| {outcome} | {count[outcome]} | {100 * count[outcome] / total:.1f} % | {parts[0]} | {parts[1]} |"
        )
    answered = sum(count[o] for o in ("right", "said", "undecided"))
    lines += ["", f"Answered: {100 * answered / total:.1f} % of the robots."]
    for title, outcomes in (
        ("Refusals by reason", ("refused",)),
        ("Silent failures by reason", ("wrong", "crash")),
        ("Said", ("said",)),
        ("Off, and not said", ("off",)),
    ):
        reasons = Counter(
            f"{kind}: {reason_kind(r[kind]['reason'])}"
            for r in records
            for kind in ("statics", "motion")
            if r.get(kind, {}).get("outcome") in outcomes
        )
        if reasons:
            lines += ["", f"| {title} | count |", "|---|---|"]
            lines += [f"| {reason} | {n} |" for reason, n in reasons.most_common(30)]
    lines += ["", *_judge(records), "", *_times(records)]
    return "\n".join(lines)


def _judge(records: list[dict]) -> list[str]:
    """Which part of the wrong motions is flagged, and which part of the right ones falsely; words on modes are no flags."""
    motions = [r["motion"] for r in records if r.get("motion", {}).get("error") is not None]
    motions = [m for m in motions if m["outcome"] in ("right", "said", "wrong")]
    faulty = [m for m in motions if m["outcome"] != "right"]
    fine = [m for m in motions if m["outcome"] == "right"]
    off = [m for m in faulty if isinstance(m["error"], float) and m["error"] > LIMIT]
    share = lambda some: f"{sum(bool(m.get('flagged', m.get('warnings'))) for m in some)} of {len(some)}"
    return [
        f"Motions that are off by more than 2 % of the length: {share(off)} flagged; all wrong motions: {share(faulty)}.",
        f"Right motions: {share(fine)} falsely flagged.",
        f"Undecided motions: {share([r['motion'] for r in records if r.get('motion', {}).get('outcome') == 'undecided'])} "
        "flagged.",
    ]


def _times(records: list[dict]) -> list[str]:
    times = sorted(r["seconds"] for r in records) or [0.0]
    slow = sorted(records, key=lambda r: -r["seconds"])[:3]
    return [
        f"Time of a robot: {sum(times) / len(times):.2f} s on average, median {times[len(times) // 2]:.2f} s, longest "
        + ", ".join(f"{r['seconds']:.0f} s ({r['index']})" for r in slow)
        + "."
    ]


if __name__ == "__main__":
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    print(table(rows, rows[0]["seed"], sum(r["seconds"] for r in rows), 1))

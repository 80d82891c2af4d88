"""The guard against getting slower: ratios to the peers, never times, against those of the last recorded page."""

from pathlib import Path

RECORD = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.json"
SLACK = 1.5  # a ratio may fall by this factor: two runs on one machine differ by less than a third


def ratios(result: dict) -> dict[str, float]:
    """Time of each peer over Anguilla's, by case and row, of the time loop alone and of the whole call."""
    found = {}
    for case, rows in result["cases"].items():
        ours = rows["anguilla"]["ratio"]
        for key, row in rows.items():
            if key != "anguilla" and "ratio" in row:
                found[f"{case}, {row['title']}"] = float(f"{row['ratio'] / ours:.3g}")
                whole = whole_ratio(row, rows["anguilla"])
                if whole is not None:
                    found[f"{case}, {row['title']}, whole call"] = float(f"{whole:.3g}")
    for case, rows in result.get("others", {}).items():
        quoted, best = best_of(rows, own=True), best_of(rows, own=False)
        if quoted and best:
            found[f"{case}, best peer"] = float(f"{best / quoted:.3g}")
        quoted, best = (best_of(whole_of(rows), own=own) for own in (True, False))
        if quoted and best:
            found[f"{case}, best peer, whole call"] = float(f"{best / quoted:.3g}")
    return found


def whole_ratio(row: dict, ours: dict) -> float | None:
    """The whole call of a program over Anguilla's, each per simulated second; None if one of them was not timed."""
    if not ("whole_seconds" in row and "whole_seconds" in ours):
        return None
    return (row["whole_seconds"] / row["simulated"]) / (ours["whole_seconds"] / ours["simulated"])


def whole_of(rows: list[dict]) -> list[dict]:
    """The rows with whole calls in place of loops, per simulated second; without those that have none."""
    return [{**row, "ratio": row["whole_seconds"] / row["simulated"]} for row in rows if "whole_seconds" in row]


def best_of(rows: list[dict], *, own: bool, error: float = 0.01) -> float | None:
    """Least time among the rows of Anguilla (or of the peers) with an error of at most `error`; None if there is none."""
    good = [
        row["ratio"] for row in rows
        if "ratio" in row and row.get("error", 1.0) <= error and (row["peer"] == "anguilla") == own
    ]  # fmt: skip
    return min(good, default=None)


def worse(before: dict[str, float], now: dict[str, float], *, slack: float = SLACK) -> list[str]:
    """One line for each ratio that fell by more than `slack`; rows that only one of the two has do not count."""
    return [
        f"slower against its peer: {name}, {before[name]:.3g} times as fast before, {now[name]:.3g} now"
        for name in before
        if name in now and now[name] * slack < before[name]
    ]

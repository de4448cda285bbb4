"""Counts and means of histograms between two readings of /metrics."""


def read(text: str) -> dict[str, float]:
    """Sums and counts of all histograms, over all their labels."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        series, _, value = line.rpartition(" ")
        name = series.partition("{")[0]
        if name.endswith(("_sum", "_count")) and not line.startswith("#"):
            found[name] = found.get(name, 0.0) + float(value)
    return found


def count(before: dict[str, float], after: dict[str, float], histogram: str) -> float:
    """How much was observed in between."""
    return after.get(f"{histogram}_count", 0.0) - before.get(f"{histogram}_count", 0.0)


def mean(before: dict[str, float], after: dict[str, float], histogram: str, *, unit: float = 1.0) -> float | None:
    """Mean of what was observed in between, times ``unit``; None if nothing was."""
    if not (observed := count(before, after, histogram)):
        return None
    return (after[f"{histogram}_sum"] - before.get(f"{histogram}_sum", 0.0)) * unit / observed

"""Means of histograms between two readings of /metrics."""


def read(text: str) -> dict[str, float]:
    """Sums and counts of all histograms, over all their labels."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        series, _, value = line.rpartition(" ")
        name = series.partition("{")[0]
        if name.endswith(("_sum", "_count")) and not line.startswith("#"):
            found[name] = found.get(name, 0.0) + float(value)
    return found


def mean(before: dict[str, float], after: dict[str, float], histogram: str, *, unit: float = 1.0) -> float | None:
    """Mean of what was observed in between, times ``unit``; None if nothing was."""
    count = after.get(f"{histogram}_count", 0.0) - before.get(f"{histogram}_count", 0.0)
    if not count:
        return None
    return (after[f"{histogram}_sum"] - before.get(f"{histogram}_sum", 0.0)) * unit / count

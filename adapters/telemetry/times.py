"""Histograms of seconds without locks. Counted on the event loop's thread alone, up to ten times a request:
an observation costs a quarter of one of prometheus_client's."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_SHORT = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05)
BOUNDS = (*_SHORT, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper bounds of the buckets, in seconds: a count of tokens takes tens of microseconds, a generation minutes."""
_BOUND_LABELS = (*map(str, BOUNDS), "+Inf")


class _Observed:
    """One series: how many fell into each bucket, and their sum."""

    __slots__ = ("buckets", "sum_s")

    def __init__(self) -> None:
        self.buckets = [0] * len(_BOUND_LABELS)
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.sum_s += seconds


class Times(Collector):
    """A family of histograms, one for each tuple of label values that was observed."""

    def __init__(self, name: str, documentation: str, labels: tuple[str, ...]) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = labels
        self._series: dict[tuple[str, ...], _Observed] = {}

    def observe(self, values: tuple[str, ...], seconds: float) -> None:
        """Count one. ``values`` are of closed sets: each tuple is a series for as long as the process lives."""
        series = self._series.get(values)
        if series is None:
            series = self._series[values] = _Observed()
        series.observe(seconds)

    def forget(self, label: str, value: str) -> None:
        """Drop the series that have this value."""
        at = self._labels.index(label)
        self._series = {values: series for values, series in self._series.items() if values[at] != value}

    def collect(self) -> Iterable[Metric]:
        """All series, as prometheus_client asks for them."""
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._labels)
        for values, series in self._series.items():
            buckets = list(zip(_BOUND_LABELS, map(float, accumulate(series.buckets)), strict=True))
            family.add_metric(values, buckets, series.sum_s)
        yield family

"""The page of metrics has every metric, label and value, and no other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.policy.engine import Reason
from adapters.telemetry.metrics import MetricsSink
from gateway.domain.budget import Scope
from gateway.domain.engine_times import EngineTimes
from gateway.domain.limits import Sums
from gateway.domain.operation import State
from gateway.domain.refusal import Code
from gateway.ports import events
from gateway.ports.reads import ScopeSums
from gateway.ports.transport import ReadinessState

PAGE = "docs/metrics.md"
_INLINE = re.compile(r"`([^`\n]+)`")
OPEN = {
    ("gateway_refusals_total", "code"),
    ("gateway_policy_denied_total", "code"),
    ("gateway_profile_readiness", "profile"),
}
"""Their values stand elsewhere, whole."""
ENDS = (State.COMPLETED, State.NO_EFFECT, State.CHARGED, State.UNKNOWN)
"""What a dispatch can end in while its task lives."""
NO_DECISION = ("cancelled", *(reason.value for reason in Reason))
ASKED = ("access", "routes", "replay", "visible", "operate")


def every_event() -> Iterator[events.Event]:
    """Each with every value that it can have."""
    for value in (True, False):
        yield events.Answered(value, 0.1)
        yield events.Reloaded(value)
    yield from (events.Refused(code, 0.1) for code in Code)
    times = EngineTimes(queue_s=0.1, prefill_s=0.1, decode_s=0.1)
    yield events.ReadinessChanged("late", "gone", "")
    for profile in ("p", "late"):
        yield events.Walked(tuple((stage, 1.0) for stage in get_args(events.Stage)), profile, times)
        yield events.UsageAboveCount(profile, 1)
        yield from (events.Dispatched(profile, state, "", 1) for state in ENDS)
    for entrypoint in ASKED:
        yield from (events.Decided(entrypoint, reason, 0.1, 1) for reason in ("", *NO_DECISION))
        yield events.Denied(entrypoint, "purpose_not_allowed")
        yield events.Recalled(entrypoint, "decided")
        yield events.Recalled(entrypoint, "in_flight")
    yield events.Committed(1, 0.1)
    yield events.Sampled(loop_lag_s=0, queued=0, running=0, unsaved_bytes=0)
    yield events.Accounted(
        tuple(ScopeSums(Scope(kind, "s"), Sums(0, day_us=0, month_us=0)) for kind in ("profile", "quota_scope"))
    )
    yield from (events.ReadinessChanged("p", state, "") for state in get_args(ReadinessState))
    yield events.AttemptsSwept(("d-1",), ("d-2",))
    yield events.Faulted("somewhere", "OSError")


class Counted:
    """Metrics with their kind, and labels with their values, as a sink shows them after every event."""

    def __init__(self) -> None:
        sink = MetricsSink()
        for event in every_event():
            sink.count(event)
        self.kinds: dict[str, str] = {}
        self.labels: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)
        for family in text_string_to_metric_families(sink.render().decode()):
            if family.name.endswith("_created"):
                continue
            name = f"{family.name}_total" if family.type == "counter" else family.name
            self.kinds[name] = family.type
            for sample in family.samples:
                for label, value in sample.labels.items():
                    if label != "le":
                        self.labels[name].setdefault(label, set()).add(value)


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted()


def test_every_metric_stands_in_the_page_with_its_kind_and_labels(texts: Mapping[str, str], counted: Counted) -> None:
    shown = {row[0].strip("`"): (row[1], set(_INLINE.findall(row[2]))) for row in rows(texts, "Metrics")}
    assert shown == {name: (kind, set(counted.labels[name])) for name, kind in counted.kinds.items()}
    assert len(shown) > 30


def test_every_value_of_every_label_stands_in_the_page(texts: Mapping[str, str], counted: Counted) -> None:
    shown: dict[tuple[str, str], set[str]] = {}
    for label, of, values in rows(texts, "Labels"):
        for metric in _INLINE.findall(of) or accounts(counted):
            shown[metric, label.strip("`")] = set(_INLINE.findall(values))
    closed = {
        (metric, label): values - {"p", "s"} for metric, of in counted.labels.items() for label, values in of.items()
    }
    assert shown.keys() == closed.keys()
    for place, values in shown.items():
        assert values == (set() if place in OPEN else closed[place]), place


def test_every_event_is_counted_here() -> None:
    assert {type(event) for event in every_event()} == set(get_args(events.Event))


def test_every_stage_is_explained_in_the_order_of_the_path(texts: Mapping[str, str]) -> None:
    assert [row[0].strip("`") for row in rows(texts, "Stages")] == list(get_args(events.Stage))


def test_every_reason_for_which_there_is_no_decision_is_explained(texts: Mapping[str, str]) -> None:
    assert {row[0].strip("`") for row in rows(texts, "Policy")} == set(NO_DECISION)


def test_each_symptom_is_told_apart_from_the_others(texts: Mapping[str, str]) -> None:
    symptoms = [row[0] for row in rows(texts, "What a slow answer waits for")]
    for symptom in ("queue", "prefill", "decode", "memory", "unknown"):
        assert any(f"**{symptom}**" in shown for shown in symptoms), symptom


def test_every_metric_and_label_in_a_query_exists(texts: Mapping[str, str], counted: Counted) -> None:
    page = texts[PAGE]
    queries = "\n".join(re.findall(r"```promql\n(.*?)```", page, re.DOTALL))
    used = set(re.findall(r"\bgateway_\w+", queries + page))
    known = {name + end for name in counted.kinds for end in ("", "_bucket", "_sum", "_count")}
    assert used - known == set()
    for selector in re.findall(r"gateway_(\w+)\{(\w+)=\"(\w+)\"\}", page):
        metric, label, value = selector
        assert value in counted.labels[f"gateway_{metric}"][label], selector


def accounts(counted: Counted) -> list[str]:
    """Metrics of the scopes."""
    return [name for name, labels in counted.labels.items() if "scope_kind" in labels]


def rows(texts: Mapping[str, str], heading: str) -> list[list[str]]:
    """Cells of the table rows in a section, without heads and rules."""
    (_, found) = re.split(rf"^#+ {re.escape(heading)}$", texts[PAGE], flags=re.MULTILINE)
    lines: list[Any] = re.split(r"^#+ ", re.sub(r"```.*?```", "", found, flags=re.DOTALL), flags=re.MULTILINE)[
        0
    ].splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line, above in zip(lines, ["", *lines], strict=False)
        if line.startswith("| ") and above.startswith("|")
    ]

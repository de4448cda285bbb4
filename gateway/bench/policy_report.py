"""The part of the report on decisions alone."""

from collections.abc import Iterator, Sequence

from gateway.bench.decisions import ASKERS
from gateway.bench.revision import Revision
from gateway.bench.tables import ms, table, us

STARTS = ("profiles", "tenants", "bundles", "start s", "CPU of it s", "OPA ready MB", "OPA at the end MB")
DECISIONS = (
    "profiles",
    "question",
    "at once",
    "decisions/s",
    "p50 ms",
    "p99 ms",
    "OPA us",
    "client us",
    "decisions",
    "failed",
)
HITS = ("profiles", "question", "CPU us")
BURSTS = ("profiles", "through", "all have it ms", "CPU us per asker", "decisions of OPA", "failed")


def policy_parts(revisions: Sequence[Revision]) -> Iterator[str]:
    """Starts, decisions, and what the memo makes of them; nothing where nothing was measured."""
    if not revisions:
        return
    yield (
        "## Decisions alone\n\nThe rules over generated registries, without the gateway. OPA is asked every time; the "
        "client is the process that asks. A start asks no golden decisions here."
    )
    yield table(STARTS, map(_start, revisions))
    yield table(DECISIONS, (row for revision in revisions for row in _deciding(revision)))
    yield "A decision that is remembered:"
    yield table(HITS, (row for revision in revisions for row in _hits(revision)))
    yield f"{ASKERS} ask one new question at the same moment:"
    yield table(BURSTS, (row for revision in revisions for row in _bursts(revision)))


def _start(revision: Revision) -> tuple[str, ...]:
    return (
        str(revision.profiles),
        str(revision.tenants),
        str(revision.bundles),
        f"{revision.start_s:.2f}",
        f"{revision.start_cpu_s:.2f}",
        f"{revision.opa_ready_mb:.0f}",
        f"{revision.opa_end_mb:.0f}",
    )


def _deciding(revision: Revision) -> Iterator[tuple[str, ...]]:
    for row in revision.deciding:
        yield (
            str(revision.profiles),
            row.question,
            str(row.at_once),
            f"{row.per_s:.0f}",
            f"{row.p50_ms:.2f}",
            f"{row.p99_ms:.2f}",
            us(row.opa_us),
            us(row.client_us),
            str(row.decisions),
            str(row.failed),
        )


def _hits(revision: Revision) -> Iterator[tuple[str, ...]]:
    for row in revision.hits:
        yield (str(revision.profiles), row.question, f"{row.cpu_us:.1f}")


def _bursts(revision: Revision) -> Iterator[tuple[str, ...]]:
    for row in revision.bursts:
        yield (
            str(revision.profiles),
            row.through,
            ms(row.all_ms),
            us(row.cpu_us),
            f"{row.decisions:.1f}",
            str(row.failed),
        )

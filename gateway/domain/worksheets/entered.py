"""What went into a worksheet, so that every number beneath its figures says what it rests on too."""

from collections.abc import Mapping

from gateway.domain.worksheets.fields import Entries, Field
from gateway.domain.worksheets.measured import Measured
from gateway.domain.worksheets.sheet import Table

COLUMNS = ("Entry", "Value", "Basis")


def measurable(fields: tuple[Field, ...]) -> Mapping[str, Field]:
    """The fields whose entries can have been measured: its numbers."""
    return {field.name: field for field in fields if field.kind in ("count", "decimal")}


def table(entries: Entries, fields: Mapping[str, Field], rests_on: Measured) -> Table:
    """Every number that was entered or stands by default, in the order of the fields. Only for sound entries."""
    rows = tuple(
        (field.label, f"{entries.text(name)} {field.unit}".rstrip(), _basis(entries, name, rests_on))
        for name, field in fields.items()
        if entries.text(name)
    )
    return Table(title="Entered", columns=COLUMNS, rows=rows)


def _basis(entries: Entries, name: str, rests_on: Measured) -> str:
    basis, how = rests_on.basis(name)
    if how is not None:
        return f"{basis} with {how.engine} on {how.device} under {how.workload}, {how.date}, by {how.by}"
    return basis if entries.has(name) else f"{basis}, by default"

"""Which entries of a worksheet were measured, and where, when and by whom."""

import re
from collections.abc import Mapping
from datetime import date

from gateway.domain.worksheets.fields import Entries, Field
from gateway.domain.worksheets.sheet import Basis, Measurement

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_LONGEST = 200

FIELDS = (
    Field(
        name="measured",
        label="Measured entries",
        kind="text",
        help="Names of the fields whose entries were measured, separated by commas; all others are assumed.",
    ),
    Field(name="measured_engine", label="Measured with engine", kind="text", help="Its name and version."),
    Field(name="measured_device", label="Measured on device", kind="text", help="Its name, and how many."),
    Field(name="measured_workload", label="Measured under workload", kind="text", help="What the engine did then."),
    Field(name="measured_date", label="Measured on", kind="date", help="The day, such as 2026-11-30."),
    Field(name="measured_by", label="Measured by", kind="text", help="Who answers for it."),
)
"""Fields that every worksheet has."""


class Measured:
    """What the entries of one worksheet rest on."""

    def __init__(self, names: frozenset[str], measurement: Measurement | None) -> None:
        self._names = names
        self.measurement = measurement

    def basis(self, name: str) -> tuple[Basis, Measurement | None]:
        """Of one entry: measured and how, or assumed."""
        return ("measured", self.measurement) if name in self._names else ("assumed", None)


def read_measured(entries: Entries, fields: Mapping[str, Field]) -> Measured:
    """Read ``FIELDS``. A measurement is whole or none; ``fields`` are those that can have been measured."""
    names = [name.strip().replace("-", "_") for name in entries.text("measured").split(",") if name.strip()]
    if any(name not in fields for name in names):
        entries.refuse(
            "measured", "One of these is no field that can be measured.", f"Name any of {', '.join(fields)}."
        )
    elif any(not entries.has(name) for name in names):
        entries.refuse("measured", "One of these was not entered.", "Enter it, or do not name it.")
    parts = {field.name: entries.text(field.name) for field in FIELDS[1:]}
    for name, text in parts.items():
        if names and not text:
            entries.refuse(name, "A measurement needs it.", "Enter it, or leave the field measured empty.")
        if text and not names:
            entries.refuse("measured", "Nothing is said to be measured.", "Name the fields, or leave out the rest.")
        if len(text) > _LONGEST or not text.isprintable():
            entries.refuse(name, f"This is not one line of at most {_LONGEST} characters.", "Shorten it.")
    if parts["measured_date"] and not _is_day(parts["measured_date"]):
        entries.refuse("measured_date", "This is no day.", "Write it as 2026-11-30.")
    if not names:
        return Measured(frozenset(), None)
    return Measured(
        frozenset(names), Measurement(**{name.removeprefix("measured_"): text for name, text in parts.items()})
    )


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True

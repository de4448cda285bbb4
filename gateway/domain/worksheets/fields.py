"""What may be entered into a worksheet: one table for every door, and one strict reader of the texts.

Every door hands over texts by field name. All faults are found at once, each names its field, and none repeats the
text: it may be a whole file.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from gateway.domain.errors import GatewayError

MOST = 10**18
"""Above this, no count is one of anything here; and below it, every sum stays exact."""
LONGEST_NUMBER = 40
_DECIMAL = re.compile(r"(0|[1-9][0-9]*|)(\.[0-9]+)?(e[0-9]{1,2})?", re.ASCII | re.IGNORECASE)


class Field(Struct, frozen=True, kw_only=True):
    """One entry of a worksheet. Its option on the command line is its name with hyphens."""

    name: str
    label: str
    kind: Literal["count", "decimal", "choice", "text", "date", "document"]
    """``document``: the contents of a file, such as a config.json; the command line takes a path for it."""
    unit: str = ""
    default: str = ""
    """The text that stands for a field that was not entered; empty: nothing was."""
    choices: tuple[str, ...] = ()
    help: str = ""
    """One sentence, without a default."""
    group: Literal["first", "more"] = "more"
    """``first``: the controls that the page shows before anything else."""


class EntryFault(Struct, frozen=True):
    """What is wrong with one field, told so that whoever entered it can mend it."""

    field: str
    """Empty: of the fields together."""
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field}: {self.sentence} {self.remedy}" if self.field else f"{self.sentence} {self.remedy}"


class EntriesRefused(GatewayError):
    """The worksheet cannot be computed from what was entered."""

    def __init__(self, faults: Sequence[EntryFault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = tuple(faults)


class Entries:
    """Reads the texts of one worksheet. A fault is noted and its default read in its place; ``close`` raises all."""

    def __init__(self, fields: Sequence[Field], entered: Mapping[str, str]) -> None:
        self._fields = {field.name: field for field in fields}
        self._entered = {name: text.strip() for name, text in entered.items() if text.strip()}
        self._faults = [
            EntryFault(name[:64], "There is no such field.", f"The fields are {', '.join(self._fields)}.")
            for name in self._entered
            if name not in self._fields
        ]

    def has(self, name: str) -> bool:
        """Whether it was entered, other than as nothing. A default is not."""
        return name in self._entered

    def text(self, name: str) -> str:
        """What was entered, or the default."""
        return self._entered.get(name, self._fields[name].default)

    def choice(self, name: str) -> str:
        """One of the field's choices."""
        field, text = self._fields[name], self.text(name)
        if text in field.choices:
            return text
        self.refuse(name, "This is none of its values.", f"They are {', '.join(field.choices)}.")
        return field.default or field.choices[0]

    def count(self, name: str, *, least: int = 1, most: int = MOST) -> int:
        """A whole number; ``8e9`` is one."""
        found = self.decimal(name, least=Decimal(least), most=Decimal(most))
        if found != found.to_integral_value():
            self.refuse(name, "This is not a whole number.", "Enter one, without a fraction.")
        return int(found)

    def decimal(self, name: str, *, least: Decimal = Decimal(0), most: Decimal = Decimal(MOST)) -> Decimal:
        """A decimal number, exactly as it was written; ``least`` and ``most`` belong to what is allowed."""
        text = self.text(name)
        if not text:
            self.refuse(name, "It is missing.", f"Enter a number{self._in_unit(name)}.")
            return least
        found = _number(text)
        if found is None:
            remedy = "Enter decimal digits with a point, such as 24 or 0.5, not negative and without separators."
            self.refuse(name, "This is not a number.", remedy)
            return least
        if found < least:
            self.refuse(name, f"This is below {least:f}, the least that means anything.", "Enter a larger number.")
            return least
        if found > most:
            self.refuse(name, f"This is above {most:f}, the most that is allowed.", "Enter a smaller number.")
            return most
        return found

    def refuse(self, name: str, sentence: str, remedy: str) -> None:
        """Note a fault of a field; empty: of several together. Only the first of a field is kept."""
        if not any(fault.field == name for fault in self._faults):
            self._faults.append(EntryFault(name, sentence, remedy))

    @property
    def is_sound(self) -> bool:
        """Whether no fault has been noted."""
        return not self._faults

    def close(self) -> None:
        """:raises EntriesRefused: if anything was refused."""
        if self._faults:
            raise EntriesRefused(self._faults)

    def _in_unit(self, name: str) -> str:
        unit = self._fields[name].unit
        return f" of {unit}" if unit else ""


def _number(text: str) -> Decimal | None:
    if len(text) > LONGEST_NUMBER or not (matched := _DECIMAL.fullmatch(text)):
        return None
    if not (matched[1] or matched[2]):
        return None
    return Decimal(text)

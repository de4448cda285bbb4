"""What was sent to a worksheet, as texts by field name: from a query or from a form, each name once."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from msgspec import Struct

from gateway.domain.worksheets.catalogue import Worksheet
from gateway.domain.worksheets.fields import EntriesRefused, EntryFault
from gateway.domain.worksheets.sheet import Sheet

MOST_FIELDS = 200
_NAME = 64


class Entered(Struct, frozen=True):
    """The texts as they were sent, and what is wrong with the way in which they were."""

    texts: Mapping[str, str] = {}
    faults: tuple[EntryFault, ...] = ()


class Computed(Struct, frozen=True):
    """A worksheet with what was entered: a sheet, or the faults that stand in its way."""

    worksheet: Worksheet
    texts: Mapping[str, str] = {}
    """As they were sent, to be shown again."""
    told: Mapping[str, str] = {}
    """What was computed with."""
    sheet: Sheet | None = None
    faults: tuple[EntryFault, ...] = ()


def read(encoded: bytes) -> Entered:
    """Read ``application/x-www-form-urlencoded`` in UTF-8."""
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(encoded),
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        remedy = f"Send at most {MOST_FIELDS} fields as application/x-www-form-urlencoded in UTF-8."
        return Entered(faults=(EntryFault("", "These are no entries of a form.", remedy),))
    texts: dict[str, str] = {}
    twice: dict[str, None] = {}
    for name, text in pairs:
        if name in texts:
            twice[name] = None
        else:
            texts[name] = text
    faults = tuple(EntryFault(name[:_NAME], "It was sent more than once.", "Send it once.") for name in twice)
    return Entered(texts, faults)


def compute(worksheet: Worksheet, entered: Entered, *, is_form: bool) -> Computed:
    """The worksheet of the entries.

    A form sends every control that it has. One at its default was not entered: it would stand in the way of entries
    that take its place, as a config.json takes the place of the plain numbers. Everywhere else an entry is one.
    """
    fields = {field.name: field.default for field in worksheet.fields}
    texts = entered.texts
    told = {name: text for name, text in texts.items() if not is_form or text.strip() not in ("", fields.get(name))}
    faults = list(entered.faults)
    # The reader of entries takes an empty one for none, and has no opinion about its name.
    faults += [
        EntryFault(name[:_NAME], "There is no such field.", f"The fields are {', '.join(fields)}.")
        for name, text in texts.items()
        if name not in fields and not text.strip()
    ]
    try:
        sheet = worksheet.compute(told)
    except EntriesRefused as refused:
        # In the order of the controls, so that whoever mends one after the other goes down the page.
        place = {name: number for number, name in enumerate(fields)}
        found = sorted((*faults, *refused.faults), key=lambda fault: place.get(fault.field, -1))
        return Computed(worksheet, texts, told, None, tuple(found))
    return Computed(worksheet, texts, told, None if faults else sheet, tuple(faults))

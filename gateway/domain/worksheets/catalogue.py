"""The worksheets, as every door finds them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from gateway.domain.worksheets.cost import fields as cost_fields
from gateway.domain.worksheets.cost import sheet as cost_sheet
from gateway.domain.worksheets.fields import Field
from gateway.domain.worksheets.latency import fields as latency_fields
from gateway.domain.worksheets.latency import sheet as latency_sheet
from gateway.domain.worksheets.memory import fields as memory_fields
from gateway.domain.worksheets.memory import sheet as memory_sheet
from gateway.domain.worksheets.sheet import Sheet


class Worksheet(Struct, frozen=True, kw_only=True):
    """One worksheet: what may be entered, and what comes out."""

    title: str
    question: str
    """What it answers, for somebody who sees it for the first time."""
    fields: tuple[Field, ...]
    compute: Callable[[Mapping[str, str]], Sheet]
    """Raises EntriesRefused."""


WORKSHEETS: Mapping[str, Worksheet] = MappingProxyType(
    {
        "memory": Worksheet(
            title="Memory",
            question="Will it fit?",
            fields=memory_fields.FIELDS,
            compute=memory_sheet.sheet,
        ),
        "latency": Worksheet(
            title="Latency",
            question="How long will an answer take?",
            fields=latency_fields.FIELDS,
            compute=latency_sheet.sheet,
        ),
        "cost": Worksheet(
            title="Cost",
            question="What will a request cost?",
            fields=cost_fields.FIELDS,
            compute=cost_sheet.sheet,
        ),
    }
)

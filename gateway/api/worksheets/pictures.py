"""Which picture belongs to which worksheet."""

from collections.abc import Callable, Mapping

from gateway.api.worksheets.cost_curves import cost_curves
from gateway.api.worksheets.markup import Markup
from gateway.api.worksheets.memory_bar import memory_bar
from gateway.api.worksheets.timeline import timeline
from gateway.domain.worksheets.sheet import Sheet

_DRAWERS: Mapping[str, Callable[[Sheet], Markup | None]] = {
    "memory": memory_bar,
    "latency": timeline,
    "cost": cost_curves,
}


def picture(sheet: Sheet) -> Markup | None:
    """None where a figure that it is made of is not known."""
    return _DRAWERS[sheet.worksheet](sheet)

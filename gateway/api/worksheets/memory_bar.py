"""The bar of a device: weights, KV state and reserve on each other, against the line of what it has."""

from fractions import Fraction

from gateway.api.worksheets.markup import Markup, joined, tag
from gateway.api.worksheets.svg import Fill, area, label, legend, line_sample, number, picture, sample, share, upright
from gateway.domain.worksheets.sheet import Sheet
from gateway.domain.worksheets.units import gib

PARTS: tuple[tuple[str, Fill], ...] = (("weights", "solid"), ("kv", "lines"), ("reserve", "dots"))
_TOP, _HEIGHT, _BELOW = 24, 44, 88
_ROOM = Fraction(21, 20)
"""The longer of bar and device does not reach the edge."""


def memory_bar(sheet: Sheet) -> Markup | None:
    """None if the sheet lacks a part."""
    weights, kv, reserve, total, device = (
        number(sheet.figures.get(name)) for name in ("weights", "kv", "reserve", "total", "device")
    )
    if weights is None or kv is None or reserve is None or total is None or device is None:
        return None
    most = max(total, device) * _ROOM
    begin, drawn = Fraction(0), []
    for (name, fill), size in zip(PARTS, (weights, kv, reserve), strict=True):
        drawn.append(area(begin, size, most, top=_TOP, height=_HEIGHT, fill=fill, part=name))
        begin += size
    over = total - device
    words = f"{gib(over)} over" if over > 0 else f"{gib(-over)} left"
    if over > 0:
        drawn.append(area(device, over, most, top=_TOP + _HEIGHT - 8, height=8, fill="over", part="over"))
    figures = sheet.figures
    parts = ", ".join(f"{figures[name].label} {figures[name].shown}" for name, _ in PARTS)
    description = f"{parts}; together {gib(total)} against a device of {gib(device)}: {words}."
    entries = [(sample(fill), f"{figures[name].label} {figures[name].shown}") for name, fill in PARTS]
    return tag(
        "figure",
        picture(
            "memory-bar",
            "Memory of one device",
            description,
            _BELOW + 8,
            tag("rect", x=0, y=_TOP, width=share(device, most), height=_HEIGHT, class_="empty"),
            joined(*drawn),
            upright(device, most, _TOP - 6, _TOP + _HEIGHT + 6, "capacity"),
            label(device, most, _TOP - 10, f"Device {gib(device)}"),
            label(total, most, _BELOW, f"Sum {gib(total)}: {words}"),
        ),
        legend(*entries, (line_sample("capacity"), f"Memory of the device {gib(device)}")),
    )

"""The seconds of one answer, in their order, with the first token, the saved answer and the objective marked."""

from fractions import Fraction

from gateway.api.worksheets.markup import Markup, joined, tag
from gateway.api.worksheets.svg import Fill, area, label, legend, line_sample, number, picture, sample, upright
from gateway.domain.worksheets.sheet import Sheet

PARTS: tuple[tuple[str, Fill], ...] = (
    ("before", "dots"),
    ("prefill", "lines"),
    ("decode", "solid"),
    ("persist", "cross"),
)
MARKS = ("first_token", "slo", "saved_answer")
"""In the order of their rows: no two labels share one."""
_ROW, _HEIGHT = 22, 40
_TOP = _ROW * len(MARKS) + 8
_ROOM = Fraction(21, 20)


def timeline(sheet: Sheet) -> Markup | None:
    """None if no part takes any time."""
    figures = sheet.figures
    parts = {name: size for name, _ in PARTS if (size := number(figures.get(name))) is not None}
    marks = {name: at for name in MARKS if (at := number(figures.get(name))) is not None}
    most = max([sum(parts.values(), Fraction(0)), *marks.values()]) * _ROOM
    if most <= 0:
        return None
    begin, drawn = Fraction(0), []
    for name, fill in PARTS:
        if name in parts:
            drawn.append(area(begin, parts[name], most, top=_TOP, height=_HEIGHT, fill=fill, part=name))
            begin += parts[name]
    for row, name in enumerate(MARKS):
        if name in marks:
            base = _ROW * (row + 1) - 6
            drawn.append(upright(marks[name], most, base + 4, _TOP + _HEIGHT + 4, name.replace("_", "-")))
            drawn.append(label(marks[name], most, base, f"{figures[name].label} {figures[name].shown}"))
    told = [f"{figures[name].label} {figures[name].shown}" for name in (*parts, *marks)]
    entries = [(sample(fill), f"{figures[name].label} {figures[name].shown}") for name, fill in PARTS if name in parts]
    lines = [(line_sample(name.replace("_", "-")), figures[name].label) for name in MARKS if name in marks]
    return tag(
        "figure",
        picture("timeline", "Seconds of one answer", f"{', '.join(told)}.", _TOP + _HEIGHT + 8, joined(*drawn)),
        legend(*entries, *lines),
    )

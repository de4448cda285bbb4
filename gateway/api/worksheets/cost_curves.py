"""What an hour costs, hosted and self-hosted, over the requests in it; and where the two cross."""

from fractions import Fraction

from gateway.api.worksheets.markup import Markup, tag
from gateway.api.worksheets.svg import label, legend, line_sample, number, picture, share, upright
from gateway.domain.worksheets.sheet import Sheet
from gateway.domain.worksheets.units import grouped, rounded

_TOP, _HEIGHT = 48, 190
_BOTTOM = _TOP + _HEIGHT


def cost_curves(sheet: Sheet) -> Markup | None:
    """None if one of the two curves is not known."""
    figures = sheet.figures
    hosted, hourly = number(figures.get("hosted_per_request")), number(figures.get("self_hosted_per_hour"))
    variable = number(figures.get("variable_per_request")) or Fraction(0)
    if hosted is None or hourly is None:
        return None
    crossing = number(figures.get("break_even_rate"))
    widest = 2 * crossing if crossing else 2 * hourly / hosted if hosted and hourly else Fraction(1000)
    highest = max(hosted * widest, hourly + variable * widest)
    if highest <= 0:
        return None
    unit = figures["self_hosted_per_hour"].unit
    words = "they do not cross" if not crossing else f"they cross at {figures['break_even_rate'].shown}"
    description = (
        f"Per hour, at up to {grouped(round(widest))} requests: hosted from 0 to {rounded(hosted * widest, 2)} {unit}, "
        f"self-hosted from {rounded(hourly, 2)} to {rounded(hourly + variable * widest, 2)} {unit}; {words}."
    )
    drawn = [tag("line", x1=0, x2="100%", y1=y, y2=y, class_="grid") for y in (_TOP, _TOP + _HEIGHT // 2, _BOTTOM)]
    drawn += [
        _curve(Fraction(0), hosted * widest, highest, "hosted"),
        _curve(hourly, hourly + variable * widest, highest, "self-hosted"),
    ]
    if crossing:
        height = _BOTTOM - _HEIGHT * hosted * crossing / highest
        drawn += [
            upright(crossing, widest, _TOP - 8, _BOTTOM, "crossing"),
            tag("circle", cx=share(crossing, widest), cy=rounded(height, 2), r=5, class_="crossing"),
            label(
                crossing, widest, _TOP - 14, f"{figures['break_even_rate'].label} {figures['break_even_rate'].shown}"
            ),
        ]
    drawn += [
        tag("text", f"{rounded(highest, 2)} {unit}", x=0, y=_TOP + 14),
        tag("text", f"{rounded(highest / 2, 2)} {unit}", x=0, y=_TOP + _HEIGHT // 2 - 5),
        tag("text", "0 requests per hour", x=0, y=_BOTTOM + 18),
        tag("text", grouped(round(widest)), x="100%", y=_BOTTOM + 18, text_anchor="end"),
    ]
    return tag(
        "figure",
        picture("cost-curves", "Cost of an hour over requests per hour", description, _BOTTOM + 26, drawn),
        legend((line_sample("hosted"), "Hosted"), (line_sample("self-hosted"), "Self-hosted")),
    )


def _curve(begin: Fraction, end: Fraction, highest: Fraction, kind: str) -> Markup:
    """Straight: both are a sum per hour and a price per request."""
    first, last = (rounded(_BOTTOM - _HEIGHT * value / highest, 2) for value in (begin, end))
    return tag("line", x1=0, x2="100%", y1=first, y2=last, class_=f"mark {kind}", data_curve=kind)

"""What the pictures share. Places along the width are shares of it, so that texts keep their size on every screen."""

from fractions import Fraction
from typing import Literal

from gateway.api.worksheets.markup import Child, Markup, joined, tag
from gateway.domain.worksheets.sheet import Figure
from gateway.domain.worksheets.units import rounded

Fill = Literal["solid", "lines", "dots", "cross", "over"]
"""How an area is filled: told apart by its pattern where colours cannot be."""
_NEAR_AN_END = Fraction(1, 4)


def number(figure: Figure | None) -> Fraction | None:
    """The exact value of a figure that has one."""
    return None if figure is None or figure.value is None else Fraction(figure.value)


def share(value: Fraction, most: Fraction) -> str:
    """Such as 12.5%."""
    return f"{rounded(value / most * 100, 3)}%"


def picture(name: str, title: str, description: str, height: int, *children: Child) -> Markup:
    """A drawing with its alternative in words."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-drawn"),
        tag("desc", description, id=f"{name}-told"),
        *children,
        role="img",
        aria_labelledby=f"{name}-drawn",
        aria_describedby=f"{name}-told",
        width="100%",
        height=height,
        class_="picture",
    )


def area(begin: Fraction, length: Fraction, most: Fraction, *, top: int, height: int, fill: Fill, part: str) -> Markup:
    """A part of a bar."""
    return tag(
        "rect",
        x=share(begin, most),
        width=share(length, most),
        y=top,
        height=height,
        fill=f"url(#fill-{fill})",
        class_=f"area {fill}",
        data_part_of_bar=part,
    )


def label(value: Fraction, most: Fraction, y: int, text: str) -> Markup:
    """A text at a place, inside the picture also at its ends."""
    at = value / most
    anchor = "start" if at < _NEAR_AN_END else "end" if at > 1 - _NEAR_AN_END else "middle"
    return tag("text", text, x=share(value, most), y=y, text_anchor=anchor)


def upright(value: Fraction, most: Fraction, top: int, bottom: int, kind: str) -> Markup:
    """A vertical line."""
    at = share(value, most)
    return tag("line", x1=at, x2=at, y1=top, y2=bottom, class_=f"mark {kind}", data_mark=kind)


def legend(*entries: tuple[Markup, str]) -> Markup:
    """What is what, each with a sample of how it is drawn."""
    samples = [
        tag("li", tag("svg", drawn, width=28, height=14, aria_hidden="true"), tag("span", words))
        for drawn, words in entries
    ]
    return tag("ul", samples, class_="legend")


def sample(fill: Fill) -> Markup:
    """Of an area."""
    return tag("rect", width="100%", height="100%", fill=f"url(#fill-{fill})", class_=f"area {fill}")


def line_sample(kind: str) -> Markup:
    """Of a line."""
    return tag("line", x1=0, x2="100%", y1=7, y2=7, class_=f"mark {kind}")


def patterns() -> Markup:
    """The fillings, once in a page."""
    drawn: dict[Fill, Child] = {
        "solid": None,
        "lines": tag("path", d="M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4", class_="ink"),
        "dots": [tag("circle", cx=2, cy=2, r="1.3", class_="ink"), tag("circle", cx=6, cy=6, r="1.3", class_="ink")],
        "cross": tag("path", d="M0,0 l8,8 M8,0 l-8,8", class_="ink"),
        "over": tag("path", d="M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4", class_="ink"),
    }
    found = [
        tag(
            "pattern",
            tag("rect", width=8, height=8, class_="paper"),
            inside,
            id=f"fill-{fill}",
            class_=fill,
            width=8,
            height=8,
            patternUnits="userSpaceOnUse",
        )
        for fill, inside in drawn.items()
    ]
    return tag("svg", tag("defs", joined(*found)), width=0, height=0, aria_hidden="true", class_="patterns")

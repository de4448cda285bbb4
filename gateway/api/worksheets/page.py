"""The whole page. It is complete without its script."""

from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from gateway.api.worksheets.assets import script, style
from gateway.api.worksheets.controls import form
from gateway.api.worksheets.entered import Computed, Entered, compute
from gateway.api.worksheets.markup import Markup, joined, tag
from gateway.api.worksheets.results import boxed, link_to, results, table
from gateway.api.worksheets.svg import patterns
from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.choosing import HOW_TO_CHOOSE
from gateway.domain.worksheets.worked import WorkedCase, worked_cases

_INTRODUCTION = (
    "Will a model fit, how long will an answer take, what will it cost. Every number says what it rests on, and shows "
    "its arithmetic. A sum that is within promises neither speed nor quality, and not that an allocation succeeds; a "
    "context window is a bound of the interface."
)
_COLUMNS = ("Case", "Weights", "KV state", "Reserve", "Sum", "Device", "Verdict")
_FIGURES = ("weights", "kv", "reserve", "total", "device")


def page(computed: Mapping[str, Computed], *, alert: str = "") -> Markup:
    """The page with these worksheets as they were computed, and after them the others at their defaults."""
    names = sorted(WORKSHEETS, key=lambda name: name not in computed)
    sections = [section(name, computed[name]) if name in computed else _at_defaults(name) for name in names]
    body = joined(
        tag("a", "Skip to the worksheets", href="#main", class_="skip"),
        patterns(),
        tag("header", tag("h1", "Worksheets"), tag("p", _INTRODUCTION), _navigation(names)),
        tag("main", tag("p", alert, role="alert", class_="alert") if alert else None, sections, _tables(), id="main"),
        tag("script", script()),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", " and ".join([*(WORKSHEETS[name].title for name in computed), "Worksheets"][-2:])),
        tag("link", rel="icon", href="data:,"),
        tag("style", style()),
    )
    return joined(Markup("<!doctype html>\n"), tag("html", head, tag("body", body), lang="en"))


def section(name: str, computed: Computed) -> Markup:
    """One worksheet: its question, its form, what it came to."""
    worksheet = computed.worksheet
    return tag(
        "section",
        tag("h2", worksheet.title, id=f"{name}-title"),
        tag("p", worksheet.question, class_="question"),
        tag("div", form(name, computed), results(name, computed), class_="sides"),
        id=name,
        data_worksheet=name,
        class_="worksheet",
    )


@cache
def untouched(name: str) -> Computed:
    """A worksheet before anything is entered. What it still needs is no fault of anybody."""
    return msgspec.structs.replace(compute(WORKSHEETS[name], Entered(), is_form=False), faults=())


@cache
def _at_defaults(name: str) -> Markup:
    return section(name, untouched(name))


def _navigation(names: Iterable[str]) -> Markup:
    places = [(name, WORKSHEETS[name].title) for name in names]
    places += [("worked", "Worked cases"), ("choosing", HOW_TO_CHOOSE.title)]
    return tag(
        "nav", tag("ul", [tag("li", tag("a", words, href=f"#{at}")) for at, words in places]), aria_label="On this page"
    )


@cache
def _tables() -> Markup:
    return joined(
        tag(
            "section",
            tag("h2", "Worked cases"),
            tag("p", "One model of eight billion parameters, and what each entry changes. A link opens its worksheet."),
            boxed("Worked cases", _COLUMNS, _cases(worked_cases()), caption=False),
            id="worked",
        ),
        tag(
            "section",
            tag("h2", HOW_TO_CHOOSE.title),
            tag("p", "It decides nothing: it says by what each way could be chosen, and what no worksheet can know."),
            table(HOW_TO_CHOOSE, caption=False, class_="box wordy"),
            id="choosing",
        ),
    )


def _cases(cases: Iterable[WorkedCase]) -> list[Markup]:
    rows = []
    for case in cases:
        sheet, link = case.sheet, link_to("memory", case.entered)
        cells = [tag("td", sheet.figures[name].shown, class_="number") for name in _FIGURES]
        verdict = tag("td", sheet.verdict.code if sheet.verdict else "")
        rows.append(tag("tr", tag("th", tag("a", case.title, href=link), scope="row"), cells, verdict))
    return rows

"""The page as a document: nothing that is entered becomes markup, and it can be read without seeing or pointing."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from api_support import Reply
from worksheet_support import ENTRIES, Element, asked, field_names, got, posted, tree

from gateway.api.worksheets import assets
from gateway.api.worksheets.markup import Markup, joined, tag
from gateway.domain.worksheets.catalogue import WORKSHEETS

ATTACK = """<script>alert(1)</script>"><img src=x onerror=alert(1)>' autofocus onfocus='alert(1) </textarea><b>&lt;"""
CONTRAST = 4.5
GRAPHIC_CONTRAST = 3.0


def directives(reply: Reply) -> dict[str, str]:
    policy = reply.headers["content-security-policy"]
    return {name: value for name, _, value in (part.partition(" ") for part in policy.split("; "))}


# What is entered


@pytest.mark.parametrize(("worksheet", "field"), field_names())
def test_nothing_that_is_entered_becomes_markup(worksheet: str, field: str) -> None:
    plain = shape(tree(posted(worksheet, {field: "x"})))
    page = tree(posted(worksheet, {field: ATTACK}))
    assert shape(page) == plain, "the entry changed the elements of the page"
    texts = [one.attributes.get("value", one.text) for one in page.all() if one.attributes.get("name") == field]
    options = [one.attributes["value"] for one in page.all("option")]
    assert ATTACK in [text.removeprefix("\n") for text in [*texts, *options]], "the entry is not shown as it was"


def shape(element: Element) -> list[tuple[str, tuple[str, ...]]]:
    """Names of all elements and of their attributes. How many faults there are is no question of markup."""
    return [
        (one.name, tuple(sorted(one.attributes)))
        for one in element.all()
        if one.name not in ("li", "a", "data", "span")
    ]


def test_the_name_of_a_field_that_is_none_becomes_no_markup_either() -> None:
    page = tree(posted("memory", {ATTACK: "1"}))
    assert ATTACK[:64] in page.one("section", id="memory").one("", data_part="verdict").text
    assert shape(page) == shape(tree(posted("memory", {"x": "1"})))


def test_no_element_runs_anything_by_an_attribute() -> None:
    for worksheet in WORKSHEETS:
        for one in tree(got(worksheet, ENTRIES[worksheet])).all():
            assert [name for name in one.attributes if name.startswith("on") or name == "style"] == []


def test_markup_joined_with_a_text_is_a_text_again() -> None:
    assert tag("p", Markup("<b>") + "<i>") == "<p>&lt;b&gt;&lt;i&gt;</p>"
    assert joined("<", [Markup("<"), None]) == "&lt;<"
    assert tag("input", value='"<', aria_invalid=None, open=False, checked=True) == '<input value="&quot;&lt;" checked>'


# Headers


def test_every_page_has_the_headers_that_keep_everything_else_away() -> None:
    replies = [asked("GET", "/worksheets"), got("memory"), got("memory", "layers=x"), posted("memory", b"x=")]
    replies.append(posted("memory", b"config=" + b"a" * 300_000))
    assert [reply.status for reply in replies] == [200, 200, 422, 422, 413]
    for reply in replies:
        found = directives(reply)
        assert found.pop("style-src") == digest(assets.style())
        assert found.pop("script-src") == digest(assets.script())
        assert found == {
            "default-src": "'none'",
            "connect-src": "'self'",
            "img-src": "data:",
            "form-action": "'self'",
            "base-uri": "'none'",
            "frame-ancestors": "'none'",
        }
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_style_and_script_stand_in_the_page_as_their_digests_say() -> None:
    page = tree(asked("GET", "/worksheets"))
    assert page.one("style").text == assets.style()
    assert page.one("script").text == assets.script()
    assert page.one("script").attributes == {}


def test_the_page_names_nothing_outside_of_it() -> None:
    for worksheet in WORKSHEETS:
        body = got(worksheet, ENTRIES[worksheet]).body.decode()
        assert re.findall(r"(?:https?:)?//[\w.-]+\.\w", body) == []
        addresses = [
            one.attributes[name]
            for one in tree(got(worksheet)).all()
            for name in ("href", "src", "action")
            if name in one.attributes
        ]
        assert [one for one in addresses if not re.match(r"#|/worksheets|data:,$", one)] == []


def test_style_and_script_are_installed_with_the_package() -> None:
    folder = Path(assets.__file__).parent
    assert {path.name for path in folder.iterdir() if path.suffix not in (".py", "")} == {
        "worksheets.css",
        "worksheets.js",
    }
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"gateway.api.worksheets" = ["*.css", "*.js"]' in project


# Reading without seeing or pointing


@pytest.mark.parametrize("worksheet", list(WORKSHEETS))
def test_every_control_has_its_label_and_every_reference_leads_somewhere(worksheet: str) -> None:
    page = tree(got(worksheet, ENTRIES[worksheet]))
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for one in page.all():
        for name in ("for", "aria-describedby", "aria-labelledby"):
            assert set(one.attributes.get(name, "").split()) <= set(ids), one
        if one.attributes.get("href", "").startswith("#"):
            assert one.attributes["href"][1:] in ids
        if one.attributes.get("fill", "").startswith("url(#"):
            assert one.attributes["fill"][5:-1] in ids
    labels = {label.attributes["for"] for label in page.all("label") if "for" in label.attributes}
    within = [control for label in page.all("label") for control in label.all("input")]
    for control in (*page.all("input"), *page.all("select"), *page.all("textarea")):
        assert control.attributes["id"] in labels or control in within, control
    for group in page.all("fieldset"):
        assert group.one("legend").text


@pytest.mark.parametrize("worksheet", list(WORKSHEETS))
def test_whoever_hears_a_control_hears_its_unit(worksheet: str) -> None:
    section = tree(got(worksheet)).one("section", id=worksheet)
    texts = {one.attributes["id"]: one.text for one in section.all() if "id" in one.attributes}
    described = {
        one.attributes["id"].removeprefix(f"{worksheet}-"): one.attributes["aria-describedby"].split()
        for one in section.all()
        if "aria-describedby" in one.attributes and "name" in one.attributes
    }
    fields = {field.name: field for field in WORKSHEETS[worksheet].fields}
    assert len(described) >= len(fields) - 1, "only raw bits are a group of controls"
    for name, ids in described.items():
        assert [texts[one] for one in ids][:-2] == ([fields[name].unit] if fields[name].unit else [])


def test_the_first_controls_are_the_four_of_the_worksheet() -> None:
    section = tree(got("memory")).one("section", id="memory")
    (first,) = [one for one in section.all("div") if one.attributes.get("class") == "first"]
    names = [one.attributes["name"] for one in first.all("input")]
    assert list(dict.fromkeys(names)) == ["cached_tokens", "sequences", "weight_bits", "vram_gib"]
    assert [one.attributes["value"] for one in first.all("input", name="weight_bits")] == ["16", "4"]
    assert "open" not in section.one("details").attributes


@pytest.mark.parametrize("worksheet", list(WORKSHEETS))
def test_every_picture_is_told_in_words(worksheet: str) -> None:
    section = tree(got(worksheet, ENTRIES[worksheet])).one("section", id=worksheet)
    (picture,) = section.all("svg", role="img")
    assert picture.one("title").text
    assert len(picture.one("desc").text) > 40
    for other in section.all("svg"):
        assert other is picture or other.attributes["aria-hidden"] == "true"


# Colours


def colours() -> dict[str, dict[str, str]]:
    light, _, dark = assets.style().partition("@media (prefers-color-scheme: dark)")
    found = {}
    for name, text in (("light", light), ("dark", dark.partition("\n}\n")[0])):
        found[name] = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", text))
    assert found["light"].keys() == found["dark"].keys()
    return found


def contrast(one: str, other: str) -> float:
    """By WCAG 2.2, 1.4.3."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXTS = [
    *[(ink, paper) for ink in ("ink", "soft", "accent") for paper in ("ground", "paper")],
    ("bad", "paper"),
    ("on-accent", "accent"),
    *[(ink, paper) for paper in ("good-paper", "bad-paper") for ink in ("ink", "good" if "good" in paper else "bad")],
]
GRAPHICS = [
    ("line", "paper"),
    *[(f"{fill}-ink", "paper") for fill in ("solid", "lines", "dots", "cross", "over")],
    *[(f"{fill}-ink", f"{fill}-paper") for fill in ("lines", "dots", "cross", "over")],
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_drawings_stand_out(scheme: str) -> None:
    known = colours()[scheme]
    texts = {pair: contrast(known[pair[0]], known[pair[1]]) for pair in TEXTS}
    graphics = {pair: contrast(known[pair[0]], known[pair[1]]) for pair in GRAPHICS}
    assert {pair: found for pair, found in texts.items() if found < CONTRAST} == {}
    assert {pair: found for pair, found in graphics.items() if found < GRAPHIC_CONTRAST} == {}


def test_the_contrast_is_the_one_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#ffffff", "#ffffff") == 1

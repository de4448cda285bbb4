"""GET and POST of the worksheets: one computation, as a page and as JSON, read strictly."""

from collections.abc import Mapping

import msgspec
import pytest
from api_support import Api, Reply
from worksheet_support import ENTRIES, HTML, JSON, asked, got, posted, tree

from gateway.domain.refusal import Code
from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.worked import worked_cases

ALL = pytest.mark.parametrize("worksheet", list(WORKSHEETS))


def is_refused(reply: Reply, status: int, code: Code, *fields: str) -> Reply:
    assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json")
    assert (reply.document["code"], reply.document["status"]) == (code, status)
    assert tuple(reply.document.get("fields", ())) == fields
    return reply


@ALL
def test_as_json_it_is_the_sheet_of_the_domain(worksheet: str) -> None:
    expected = msgspec.json.encode(WORKSHEETS[worksheet].compute(ENTRIES[worksheet]))
    for reply in (got(worksheet, ENTRIES[worksheet], JSON), posted(worksheet, ENTRIES[worksheet], JSON)):
        assert (reply.status, reply.headers["content-type"], reply.body) == (200, "application/json", expected)


@ALL
def test_the_page_shows_every_figure_of_the_json(worksheet: str) -> None:
    sheet = WORKSHEETS[worksheet].compute(ENTRIES[worksheet])
    for reply in (got(worksheet, ENTRIES[worksheet]), posted(worksheet, ENTRIES[worksheet])):
        assert reply.status == 200
        section = tree(reply).one("section", id=worksheet)
        rows = {row.attributes["data-figure"]: row for row in section.all("tr") if "data-figure" in row.attributes}
        assert list(rows) == list(sheet.figures)
        for key, figure in sheet.figures.items():
            texts = [cell.text for cell in rows[key].children if not isinstance(cell, str)]
            assert texts == [figure.label, figure.shown, figure.basis, figure.how]
            if figure.value is not None:
                assert rows[key].one("data").attributes["value"] == str(figure.value)
        lines = [item.text for item in section.all("li")]
        assert set(sheet.assumed) | set(sheet.left_out) <= set(lines)
        if sheet.verdict is not None:
            assert sheet.verdict.sentence in section.one("", data_part="verdict").text


def test_the_page_has_the_worked_cases_and_how_to_choose() -> None:
    reply = asked("GET", "/worksheets")
    assert reply.status == 200
    page = tree(reply)
    rows = [
        [cell.text for cell in row.children if not isinstance(cell, str)] for row in page.one(id="worked").all("tr")
    ]
    assert [[row[1], row[2], row[4], row[6]] for row in rows[1:]] == [
        ["14.90 GiB", "4.00 GiB", "22.90 GiB", "within"],
        ["14.90 GiB", "8.00 GiB", "26.90 GiB", "exceeds"],
        ["3.73 GiB", "4.00 GiB", "11.73 GiB", "within"],
        ["14.90 GiB", "4.00 GiB", "22.90 GiB", "exceeds"],
        ["14.90 GiB", "0.50 GiB", "19.40 GiB", "within"],
    ]
    assert len(list(page.one(id="choosing").all("tr"))) == 6


def test_the_link_of_a_worked_case_opens_it() -> None:
    links = [link.attributes["href"] for link in tree(asked("GET", "/worksheets")).one(id="worked").all("a")]
    for link, case in zip(links, worked_cases(), strict=True):
        assert asked("GET", link, JSON).body == msgspec.json.encode(case.sheet)


def test_a_measured_figure_says_where_when_and_by_whom() -> None:
    told = {"engine": "vLLM 0.32", "device": "H100", "workload": "idle", "date": "2026-11-30", "by": "ops"}
    entries = {"vram_gib": "79.1", "measured": "vram_gib"} | {f"measured_{name}": text for name, text in told.items()}
    row = tree(got("memory", entries)).one("tr", data_figure="device")
    for text in told.values():
        assert text in row.text


def test_a_form_at_its_defaults_is_no_entry() -> None:
    # A weight format takes the place of the raw bits, and the form sends these too.
    defaults = {field.name: field.default for field in WORKSHEETS["memory"].fields}
    form = tree(posted("memory", defaults | {"weight_format": "q4_1"})).one("section", id="memory")
    alone = tree(got("memory", {"weight_format": "q4_1"})).one("section", id="memory")
    assert form.one("", data_part="figures") == alone.one("", data_part="figures")
    # Whoever sends entries of his own sends no more than he means.
    for ask in (got, posted):
        for headers in (JSON, HTML)[: 1 if ask is posted else 2]:
            assert ask("memory", {"weight_bits": "16", "weight_format": "q4_1"}, headers).status == 422


def test_a_link_leads_to_what_was_posted() -> None:
    entries = {"cached_tokens": "8192", "vram_gib": "24"}
    (link,) = [link for link in tree(posted("memory", entries)).one(id="memory").all("a") if "Link" in link.text]
    assert link.attributes["href"] == "/worksheets/memory?cached_tokens=8192"
    assert asked("GET", link.attributes["href"], JSON).body == posted("memory", {"cached_tokens": "8192"}, JSON).body


def test_no_link_is_shown_that_would_be_too_long_for_one() -> None:
    page = tree(posted("memory", {"layers": "9" * 5000}))
    assert [link for link in page.one(id="memory").all("a") if "Link" in link.text] == []


# Faults


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("layers=-1", ("layers",)),
        ("layers=0&kv_heads=x", ("layers", "kv_heads")),
        ("nothing=1", ("nothing",)),
        ("nothing=", ("nothing",)),
        ("layers=32&layers=33", ("layers",)),
        ("layers=8&layers=8", ("layers",)),
        ("kv_format=x&layers=x&vram_gib=x&cached_tokens=x", ("cached_tokens", "vram_gib", "layers", "kv_format")),
        ("layers=%FF", ()),
        ("layers", ()),
        ("&".join(f"a{n}=" for n in range(201)), ()),
    ],
)
def test_entries_that_are_not_right_are_all_named(query: str, fields: tuple[str, ...]) -> None:
    for reply in (got("memory", query, JSON), posted("memory", query.encode(), JSON)):
        is_refused(reply, 422, Code.INVALID_VALUE, *fields)
        for entry in reply.document["entries"]:
            assert entry.keys() == {"field", "sentence", "remedy"}
            assert entry["sentence"]
            assert entry["remedy"]


def test_no_fault_repeats_what_was_entered() -> None:
    reply = posted("memory", {"layers": "SECRET-1", "config": '{"SECRET-2'}, JSON)
    assert reply.status == 422
    assert b"SECRET" not in reply.body


def test_a_fault_stands_beside_its_field_and_what_was_entered_stays() -> None:
    reply = posted("memory", {"layers": 'thirty "two"', "kv_heads": "4", "weight_bits": "17", "kv_format": "fp17"})
    assert reply.status == 422
    section = tree(reply).one("section", id="memory")
    control = section.one("input", name="layers")
    assert (control.attributes["value"], control.attributes["aria-invalid"]) == ('thirty "two"', "true")
    told = control.attributes["aria-describedby"].split()[-1]
    assert "This is not a number." in section.one("span", id=told).text
    assert section.one("input", name="kv_heads").attributes["value"] == "4"
    assert "aria-invalid" not in section.one("input", name="kv_heads").attributes
    (chosen,) = [one for one in section.one("select", name="kv_format").all("option") if "selected" in one.attributes]
    assert chosen.attributes["value"] == "fp17"
    (checked,) = [one for one in section.all("input", name="weight_bits") if "checked" in one.attributes]
    assert checked.attributes["value"] == "17"
    assert "open" in section.one("details").attributes
    links = {link.attributes["href"] for link in section.one("", data_part="verdict").all("a")}
    assert links == {"#memory-layers", "#memory-kv_format", "#memory-weight_bits"}
    assert section.one("", data_part="figures").text == ""


def test_what_a_worksheet_still_needs_is_no_fault_before_anything_is_entered() -> None:
    shown = got("cost")
    assert (shown.status, posted("cost", {}).status, got("cost", "", JSON).status) == (200, 422, 422)
    section = tree(shown).one("section", id="cost")
    assert [one for one in section.all() if "aria-invalid" in one.attributes] == []
    (example,) = [link for link in section.all("a") if "example" in link.text]
    assert asked("GET", example.attributes["href"], JSON).status == 200


# Bounds


@pytest.mark.parametrize("headers", [HTML, JSON])
def test_a_body_is_bounded(headers: list[tuple[str, str]]) -> None:
    room = 256 * 1024 - len(b"config=")
    assert posted("memory", b"config=" + b"a" * room, headers).status == 422
    reply = posted("memory", b"config=" + b"a" * (room + 1), headers)
    assert reply.status == 413
    if headers is HTML:
        assert "larger than the gateway reads" in tree(reply).one("p", role="alert").text


def test_a_form_comes_without_a_query() -> None:
    reply = asked("POST", "/worksheets/memory?layers=1", JSON, b"layers=1")
    is_refused(reply, 400, Code.QUERY_NOT_ALLOWED)


def test_there_is_no_other_worksheet_and_no_other_method() -> None:
    assert got("nothing").status == 404
    assert asked("DELETE", "/worksheets/memory").status == 405
    assert asked("POST", "/worksheets").status == 405


# Who asks for what


@pytest.mark.parametrize(
    ("accept", "is_json"),
    [
        ({}, False),
        ({"Accept": "*/*"}, False),
        ({"Accept": "application/json"}, True),
        ({"Accept": "application/json, */*;q=0.1"}, True),
        ({"Accept": "application/json; charset=utf-8"}, True),
        ({"Accept": "Application/JSON"}, True),
        ({"Accept": "application/json;q=0.5, text/html;q=0"}, True),
        ({"Accept": "application/json;q=0, */*"}, False),
        ({"Accept": "application/json; q=0.000"}, False),
        ({"Accept": "application/jsonlines"}, False),
        ({"Accept": "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"}, False),
    ],
)
def test_json_is_for_who_accepts_it_and_no_page(accept: Mapping[str, str], is_json: bool) -> None:
    reply = got("memory", "", list(accept.items()))
    assert reply.headers["content-type"].startswith("application/json") is is_json


@pytest.mark.parametrize("headers", [HTML, JSON])
def test_no_cache_gives_json_to_who_asks_for_the_page_or_the_page_for_json(headers: list[tuple[str, str]]) -> None:
    too_long = posted("memory", b"config=" + b"a" * 300_000, headers)
    replies = [got("memory", "", headers), got("memory", "layers=x", headers), too_long]
    assert [reply.status for reply in replies] == [200, 422, 413]
    for reply in replies:
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["vary"] == "Accept, Prefer"
        assert reply.headers["x-content-type-options"] == "nosniff"


@ALL
def test_the_worksheet_that_was_asked_for_stands_first(worksheet: str) -> None:
    expected = [worksheet, *(name for name in WORKSHEETS if name != worksheet)]
    for reply in (got(worksheet), got(worksheet, ENTRIES[worksheet]), posted(worksheet, ENTRIES[worksheet])):
        sections = tree(reply).one("main").all("section", class_="worksheet")
        assert [section.attributes["id"] for section in sections] == expected
    whole = tree(asked("GET", "/worksheets")).one("main").all("section", class_="worksheet")
    assert [section.attributes["id"] for section in whole] == list(WORKSHEETS)


def test_the_page_answers_what_a_request_costs_before_all_figures() -> None:
    sheet = WORKSHEETS["cost"].compute(ENTRIES["cost"])
    first = tree(got("cost", ENTRIES["cost"])).one("section", id="cost").one("", data_part="verdict").text
    for name in ("hosted_per_request", "self_hosted_per_request", "break_even_rate"):
        assert f"{sheet.figures[name].label}: {sheet.figures[name].shown}" in first
    assert "No sum decides what to buy." in first


def test_the_script_gets_the_one_worksheet_alone() -> None:
    whole = tree(got("memory", "layers=16"))
    part = got("memory", "layers=16", [*HTML, ("Prefer", "return=minimal")])
    assert part.headers["preference-applied"] == "return=minimal"
    assert tree(part).children == [whole.one("section", id="memory")]


def test_nobody_needs_a_credential_and_none_is_looked_at() -> None:
    api = Api()
    api.request("GET", "/worksheets/memory", [("Authorization", "Bearer nonsense")])
    assert api.world.calls == []

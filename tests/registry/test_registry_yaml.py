"""Strict YAML: what could be read in two ways is refused, with its line."""

import pathlib
import time
from typing import Any

import pytest
from registry_examples import NOW_US, digest, faults, files, full_registry

from adapters.registry import Loaded, load
from adapters.registry.document import Document
from adapters.registry.yaml_text import MAX_BYTES, MAX_DEPTH, parse
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import Edit, copy_registry

ACME = "tenants/acme.yaml"


def value(text: str) -> Any:
    """The value of a document without faults."""
    document = parse(text.encode(), "f.yaml")
    assert isinstance(document, Document), document
    return document.value


def refused(text: str | bytes) -> list[tuple[int, str, str]]:
    """Line, path and sentence of every fault."""
    document = parse(text if isinstance(text, bytes) else text.encode(), "f.yaml")
    return [] if isinstance(document, Document) else [(f.line, f.path, f.sentence) for f in document]


def test_REG_01_a_key_that_is_given_twice_is_refused_with_both_lines(tmp_path: pathlib.Path) -> None:
    edit = Edit(ACME, "active: true\n", "active: true\nactive: false\n")
    directory = copy_registry(tmp_path, [edit])
    line = (directory / ACME).read_text().splitlines().index("active: false") + 1
    assert faults(directory) == [
        Fault(
            str(directory / ACME),
            line,
            "/active",
            "The key is given twice.",
            f"Keep one; the first is in line {line - 1}.",
        )
    ]


def test_REG_01_a_key_is_given_twice_however_it_is_quoted_and_however_deep() -> None:
    assert refused("a:\n  - b: 1\n    'b': 2\n") == [(3, "/a/0/b", "The key is given twice.")]


def test_REG_01_a_merge_key_is_refused() -> None:
    assert refused("a: {b: 1}\n<<: {b: 2}\n") == [(2, "", "Merge keys are not allowed.")]
    assert value("'<<': 1") == {"<<": 1}


def test_REG_02_words_that_old_parsers_take_for_booleans_are_strings(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [Edit(ACME, "regions: [local, eu]", "regions: [se, no, on, off, y, local]")])
    loaded = load(directory, at_us=NOW_US)
    assert isinstance(loaded, Loaded), loaded
    assert loaded.snapshot.tenants["acme"].regions == ("se", "no", "on", "off", "y", "local")


def test_REG_02_an_upper_case_no_in_a_list_is_told_by_its_index(tmp_path: pathlib.Path) -> None:
    found = faults(copy_registry(tmp_path, [Edit(ACME, "regions: [local, eu]", "regions: [local, NO, dk]")]))
    assert [(f.path, f.sentence) for f in found] == [("/regions/1", "This does not have the form that is needed.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True), ("false", False), ("True", "True"), ("TRUE", "TRUE"), ("yes", "yes"), ("NO", "NO"),
        ("on", "on"),
        ("null", None), ("~", None), ("", None), ("Null", "Null"), ("'null'", "null"), ("'true'", "true"), ("'1'", "1"),
        ("1", 1), ("-1", -1), ("+1", 1), ("0", 0), ("-0", 0), ("0.0", 0.0), ("0e1", 0.0),
        ("0X1F", "0X1F"), ("1_000", "1_000"), ("1:30", "1:30"),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-2", -0.015), ("1.2.3", "1.2.3"),
        ("0b1", "0b1"),
        ("2026-11-30", "2026-11-30"), ("2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z"), ("inf", "inf"), ("nan", "nan"),
        ("=", "="), ("|\n  x\n", "x\n"), ("[]", []), ("{}", {}),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(text: str, expected: object) -> None:
    found = value(f"a: {text}")["a"]
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", [".inf", "-.Inf", ".NaN", "1e999", "9" * 21, "-" + "9" * 5000])
def test_numbers_are_finite(text: str) -> None:
    assert refused(f"a: 1\nb: {text}") == [(2, "/b", "The number is too large to be kept.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x 1", [(1, "/a", "Anchors and aliases are not allowed.")]),
        ("a: &x [1]", [(1, "/a", "Anchors and aliases are not allowed.")]),
        ("a: *x", [(1, "/a", "Anchors and aliases are not allowed.")]),
        ("a: !!str 1", [(1, "/a", "Tags are not allowed.")]),
        ("a: !thing {b: 1}", [(1, "/a", "Tags are not allowed.")]),
        ("a: !!python/object/apply:os.system [x]", [(1, "/a", "Tags are not allowed.")]),
        ("a: ! 1", [(1, "/a", "Tags are not allowed.")]),
        ("!!map\na: 1", [(1, "", "Tags are not allowed.")]),
        ("&k a: 1", [(1, "", "A key carries an anchor or a tag.")]),
        ("!!str a: 1", [(1, "", "A key carries an anchor or a tag.")]),
        ("1: a", [(1, "", "A key is not a string.")]),
        ("null: a", [(1, "", "A key is not a string.")]),
        ("true: a", [(1, "", "A key is not a string.")]),
        ("a: 1\n? [b, {c: d}]\n: 2", [(2, "", "A key is not a plain word.")]),
        ("%YAML 1.1\n---\na: 1", [(1, "", "The file has a YAML directive.")]),
        ("%TAG ! tag:x,2000:\n---\na: 1", [(1, "", "The file has a YAML directive.")]),
        ("- a", [(1, "", "The file does not hold a mapping.")]),
        ("word", [(1, "", "The file does not hold a mapping.")]),
        (b"a: 1\nb: \xff", [(2, "", "The file is not UTF-8.")]),
        ("a: 1".encode("utf-16"), [(1, "", "The file is not UTF-8.")]),
        ("a: 1\nb: \x07", [(2, "", "The line holds a character that nobody sees.")]),
        ("a: 1\nb: [1, 2", [(3, "", "The file is not valid YAML.")]),
        ("a: 1\nb: c: d", [(2, "", "The file is not valid YAML.")]),
        ("a: 1\n\tb: 2", [(2, "", "The line holds a character that nobody sees.")]),
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_refused(text: str | bytes, expected: list[tuple[int, str, str]]) -> None:
    assert refused(text)[: len(expected)] == expected


def test_a_word_that_is_quoted_may_be_a_key() -> None:
    assert value("'1': a\n\"null\": b\non: c") == {"1": "a", "null": "b", "on": "c"}


@pytest.mark.parametrize("text", ["\ufeffa: 1", "a: 1 # \ufeff"])
def test_a_byte_order_mark_is_refused(text: str) -> None:
    assert refused(text) == [(1, "", "The line holds a character that nobody sees.")]


@pytest.mark.parametrize("text", ["010", "-010", "00", "0o10", "0x1F", "00.5", "01e1"])
def test_a_number_that_others_read_differently_is_refused(text: str) -> None:
    assert refused(f"a: 1\nb: {text}") == [(2, "/b", "The number is not a plain decimal one.")]
    assert value(f"a: '{text}'") == {"a": text}
    assert refused(f"{text}: 1") == [(1, "", "A key is not a string.")]


@pytest.mark.parametrize("text", ["010-x", "0x1G", "0.1.2", "2026-01-01", "0a"])
def test_a_word_that_begins_like_such_a_number_is_a_word(text: str) -> None:
    assert value(f"a: {text}") == {"a": text}


@pytest.mark.parametrize("hidden", ["\u2028", "\u2029", "\u0085", "\r", "\u202e", "\u2066", "\u200b", "\u00a0", "\t"])
def test_what_nobody_sees_is_refused_in_comments_too_with_the_line_that_a_diff_shows(hidden: str) -> None:
    assert refused(f"a: 1\n# x{hidden}b: 2\nc: 3\n") == [(2, "", "The line holds a character that nobody sees.")]


def test_a_carriage_return_is_told_once_and_other_lines_with_it() -> None:
    assert refused("a: 1\nb: 2\r\nc: 3\r\nd: '\u200b'\r\n") == [
        (2, "", "The line ends with a carriage return."),
        (4, "", "The line holds a character that nobody sees."),
    ]


@pytest.mark.parametrize("text", ['"\\x6f"', '"\\u006f"', '"\\U0000006f"', '"a\\\n  b"', "plain # \\u006f"])
def test_an_escape_that_stands_for_a_character_is_refused(text: str) -> None:
    assert refused(f"a: 1\nb: {text}\n") == [(2, "", "The line holds an escape that hides what it says.")]


def test_a_quote_in_a_quote_is_no_such_escape() -> None:
    assert value('a: "\\"x\\" \\\\ \\n"') == {"a": '"x" \\ \n'}


def test_a_syntax_fault_says_why() -> None:
    document = parse(b"a: 1\nb: c: d", "f.yaml")
    assert isinstance(document, tuple)
    assert document[0].remedy == "Mend the syntax here or just above: mapping values are not allowed in this context."


def test_a_fault_does_not_hide_the_next_one() -> None:
    text = "a: &x 1\nb: !t 2\na: 3\nc:\n  d: .inf\n  d: 1\n"
    assert [line for line, _, _ in refused(text)] == [1, 2, 3, 5, 6]


def test_depth_is_bounded() -> None:
    def nested(levels: int) -> str:
        return "a: " + "[" * (levels - 1) + "]" * (levels - 1) + "\nb: 1\nb: 2"

    assert refused(nested(MAX_DEPTH)) == [(3, "/b", "The key is given twice.")]
    deep = [sentence for _, _, sentence in refused(nested(MAX_DEPTH + 1))]
    assert deep == ["The file is nested too deeply.", "The key is given twice."]
    assert refused("a: " + "[" * 100_000) != []


def test_size_is_bounded(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    (directory / ACME).write_bytes(b"# " + b"x" * MAX_BYTES)
    assert [f.sentence for f in faults(directory)] == ["The file is larger than 4 MiB."]


def test_REG_07_a_newline_at_the_end_of_an_id_is_refused(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path, [Edit("purposes/drafting.yaml", "id: drafting", "id: |\n  drafting")])
    assert [(f.path, f.sentence) for f in faults(directory)] == [("/id", "This does not have the form that is needed.")]


def test_REG_09_an_alias_bomb_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 7)]
    started = time.perf_counter()
    found = refused("\n".join(lines))
    assert time.perf_counter() - started < 0.1
    assert {sentence for _, _, sentence in found} == {"Anchors and aliases are not allowed."}


def test_REG_09_a_file_of_two_megabytes_loads(tmp_path: pathlib.Path) -> None:
    filler = "".join(f"  {'alias' * 11}-{n:06}: chat@1\n" for n in range(28_000))
    directory = copy_registry(tmp_path, [Edit("releases.yaml", "  chat: chat@1\n", "  chat: chat@1\n" + filler)])
    assert (directory / "releases.yaml").stat().st_size > 2_000_000
    assert digest(directory)


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n", "---\n", "null\n"])
def test_REG_14_an_empty_file_is_a_fault(text: str, tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    (directory / ACME).write_text(text)
    assert [f.sentence for f in faults(directory)] in (["The file is empty."], ["The file does not hold a mapping."])


def test_REG_14_a_second_document_is_a_fault(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    text = (directory / ACME).read_text()
    (directory / ACME).write_text(text + "---\n" + text)
    assert [f.sentence for f in faults(directory)] == ["The file holds a second document."]
    assert [sentence for _, _, sentence in refused("---\n---")][-1] == "The file holds a second document."


def test_REG_14_a_file_without_its_last_line_break_may_have_been_cut(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    text = (directory / ACME).read_text()
    (directory / ACME).write_text(text.rstrip("\n"))
    assert [(f.line, f.sentence) for f in faults(directory)] == [(text.count("\n"), "The file may have been cut off.")]


def test_REG_14_a_file_that_is_cut_inside_a_line_never_loads_as_something_else(tmp_path: pathlib.Path) -> None:
    directory = full_registry(tmp_path)
    whole = digest(directory)
    loaded = 0
    for path in files(directory):
        data = path.read_bytes()
        for end in range(0, len(data), 83):
            if data[:end].endswith(b"\n"):
                continue  # a list that is cut between two items is a shorter list
            path.write_bytes(data[:end])
            if not faults(directory):
                loaded += 1
                assert digest(directory) == whole, (path.name, end)
        path.write_bytes(data)
    assert loaded < 5

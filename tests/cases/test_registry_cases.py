"""Known ways in which configuration went wrong elsewhere, each tried in every place of a registry where it fits.

The k-th place of every file is spoiled at once, so that a registry is loaded once for each k. What ``gateway check``
says is looked at in both of its forms.
"""

import json
import pathlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from cases.registry_nodes import AT_US, nodes
from click.testing import CliRunner

from adapters.registry import Loaded, load
from adapters.registry.document import Document, Path, pointer
from adapters.registry.kinds import KINDS
from adapters.registry.schemas import schema_of
from adapters.registry.yaml_text import read
from gateway.cli.main import gateway
from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

AT = ("--at", "2026-11-30T12:00:00Z")
ACME = "tenants/acme.yaml"
FREE_TEXT = {"author", "by", "evidence", "owner", "source", "title", "workload"}
SELF_HOSTED_A = "profiles/smollm2-135m-a.yaml"
EVERYTHING = (
    Edit(
        "profiles/gpt-4.1-mini-eu.yaml",
        "  not_executed: []\n  charged: []",
        "  not_executed:\n    - {status: 429, code: rate_limit_exceeded, busy: true, source: The documentation.}\n"
        "  charged:\n    - {status: 400, code: content_filter, busy: false, source: The documentation.}",
    ),
    Edit(
        "profiles/smollm2-135m.yaml", "    sharing: exclusive", "    sharing: exclusive\n    members: [host-1, host-2]"
    ),
    Edit(
        SELF_HOSTED_A,
        re.findall(r"(?m)^  capacity:\n(?:    .*\n)+", (EXAMPLE / SELF_HOSTED_A).read_text())[0],
        "  capacity:\n    basis: measured\n    kv_tokens: 4096\n    context: 2048\n"
        "    engine_version: '2026.10.11549'\n    device: A machine\n"
        "    workload: Two answers at once\n    date: 2026-11-30\n    by: Robin Reyes\n",
    ),
)
"""So that every kind of object that a registry may hold is in it."""

Spoil = Callable[[Any, Path], Any]
"""Given a document and a place: the document with that place spoiled."""
Fits = Callable[[Any, Path, Any], bool]
"""Given the kind's folder, a place and its value: does it fit there?"""


@pytest.fixture
def directory(tmp_path: pathlib.Path) -> pathlib.Path:
    return copy_registry(tmp_path, EVERYTHING)


def check(directory: pathlib.Path) -> tuple[list[Fault], str]:
    """What ``gateway check`` says in JSON, and all that it prints in both forms."""
    told = [
        CliRunner().invoke(gateway, ["check", *AT, *form], env={"GATEWAY_REGISTRY": str(directory)})
        for form in ((), ("--json",))
    ]
    text, as_json = told
    assert text.exit_code == as_json.exit_code
    listed = json.loads(as_json.stdout)
    assert text.exit_code == (1 if listed else 0)
    faults = [Fault(**fault) for fault in listed]
    assert [str(fault) for fault in faults] == (text.stdout.splitlines() if faults else [])
    return faults, "".join(one.stdout + one.stderr for one in told)


def spoiled(directory: pathlib.Path, fits: Fits, spoil: Spoil) -> Iterator[list[tuple[pathlib.Path, Path, Any]]]:
    """Spoil the k-th place of every file, for each k. Yields file, place and the value that was there."""
    documents = {}
    for path in sorted(directory.rglob("*.yaml")):
        document = read(path)
        assert isinstance(document, Document)
        all_places = [(), *nodes(document.value)]
        documents[path] = [
            (place, document.value) for place in all_places if fits(path, place, at(document.value, place))
        ]
    for k in range(max(map(len, documents.values()))):
        changed = []
        texts = {}
        for path, places in documents.items():
            if k < len(places):
                place, whole = places[k]
                texts[path] = path.read_text()
                path.write_text(json.dumps(spoil(whole, place)) + "\n")
                changed.append((path, place, at(whole, place)))
        yield changed
        for path, text in texts.items():
            path.write_text(text)


def at(value: Any, place: Path) -> Any:
    for part in place:
        value = value[part]
    return value


def put(value: Any, place: Path, new: Any) -> Any:
    """The document with another value in one place."""
    if not place:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = put(value[place[0]], place[1:], new)
    return copy


def is_text(_: Any, __: Path, value: Any) -> bool:
    return isinstance(value, str)


def places_of(faults: list[Fault]) -> set[tuple[str, str]]:
    return {(fault.file, fault.path) for fault in faults}


def structs(value: Any) -> Iterator[str]:
    """Names of all structs that a value is made of."""
    if isinstance(value, msgspec.Struct):
        yield type(value).__name__
        yield from structs([getattr(value, name) for name in value.__struct_fields__])
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from structs(inner)


def test_the_registry_of_these_cases_holds_every_kind_of_object(directory: pathlib.Path) -> None:
    loaded = load(directory, at_us=AT_US, strict=True)
    assert isinstance(loaded, Loaded), loaded
    single = {"Currency", "Privacy", "Releases"}  # taken apart in the snapshot
    assert set(structs(loaded.snapshot)) - {"Snapshot"} | single == {
        title for kind in KINDS for title in schema_of(kind)["$defs"]
    }


# REG-01: duplicate keys, the last one wins


def test_reg_01_a_key_given_twice_is_refused_in_every_kind_of_file(directory: pathlib.Path) -> None:
    expected = set()
    for path in directory.rglob("*.yaml"):
        text = path.read_text()
        first = next(line for line in text.splitlines() if re.match(r"[a-z_]+:", line))
        key = first.partition(":")[0]
        path.write_text(f"{text}{key}: CANARY\n")
        expected.add((str(path), text.count("\n") + 1, f"/{key}", "The key is given twice."))
    faults, printed = check(directory)
    assert {(f.file, f.line, f.path, f.sentence) for f in faults} == expected
    assert "CANARY" not in printed


def test_reg_01_a_merge_key_is_refused(directory: pathlib.Path) -> None:
    path = directory / ACME
    path.write_text(path.read_text() + "<<: {active: false}\n")
    faults, _ = check(directory)
    assert [fault.sentence for fault in faults] == ["Merge keys are not allowed."]


# REG-02: Norway and friends


def test_reg_02_no_in_a_list_of_strings_is_a_string_and_an_upper_case_one_is_told_by_its_index(
    tmp_path: pathlib.Path,
) -> None:
    upper = copy_registry(tmp_path / "a", [Edit(ACME, "regions: [local, eu]", "regions: [local, NO, eu]")])
    faults, _ = check(upper)
    assert [(fault.path, fault.sentence) for fault in faults] == [
        ("/regions/1", "This does not have the form that is needed.")
    ]
    lower = copy_registry(tmp_path / "b", [Edit(ACME, "regions: [local, eu]", "regions: [local, no, off, y, eu]")])
    loaded = load(lower, at_us=AT_US)
    assert isinstance(loaded, Loaded)
    assert loaded.snapshot.tenants["acme"].regions == ("local", "no", "off", "y", "eu")


@pytest.mark.parametrize("value", [False, 12, None])
def test_reg_02_what_is_no_string_is_refused_wherever_a_string_belongs(directory: pathlib.Path, value: Any) -> None:
    nullable = {"credential", "privacy_class", "code"}
    tried = 0
    for changed in spoiled(directory, is_text, lambda whole, place: put(whole, place, value)):
        found = places_of(check(directory)[0])
        for path, place, _ in changed:
            may_be_null = value is None and place[-1] in nullable
            number_will_do = place[-1] != "cost_per_month" and "limits" in place and type(value) is int
            if not may_be_null and not number_will_do:
                assert (str(path), pointer(place)) in found
                tried += 1
    assert tried > 150


# REG-04: a misspelt or misplaced key is ignored


def test_reg_04_a_junk_key_in_every_object_of_every_kind_is_named_with_the_nearest_known_one(
    directory: pathlib.Path,
) -> None:
    tried: set[tuple[str, ...]] = set()

    def closed(path: Any, place: Path, value: Any) -> bool:
        return isinstance(value, dict) and place != ("releases",)  # its keys are aliases

    def misspelt(whole: Any, place: Path) -> Any:
        value = at(whole, place)
        return put(whole, place, {**value, _nearly(value): "CANARY"})

    for changed in spoiled(directory, closed, misspelt):
        faults, printed = check(directory)
        assert "CANARY" not in printed
        for path, place, value in changed:
            junk = _nearly(value)
            (told,) = [f for f in faults if (f.file, f.path) == (str(path), pointer((*place, junk)))]
            assert told.sentence == "This key is not known."
            assert told.remedy == f"The nearest known key is {max(value, key=len)}."
            tried.add((path.parent.name, *(part for part in place if isinstance(part, str))))
    assert len(tried) > 25, tried


def _nearly(value: dict[str, Any]) -> str:
    """The longest key of an object with its last two letters turned round."""
    key = max(value, key=len)
    return key[:-2] + key[-1] + key[-2] if key[-1] != key[-2] else key + "s"


def test_reg_04_a_key_in_the_object_beside_its_own_is_refused(tmp_path: pathlib.Path) -> None:
    edit = Edit("profiles/smollm2-135m.yaml", "  concurrency: 2\n", "  concurrency: 2\n  max_output: 4096\n")
    faults, _ = check(copy_registry(tmp_path, [edit]))
    assert [(f.path, f.sentence) for f in faults] == [("/limits/max_output", "This key is not known.")]


# REG-06: a format that is not checked


@pytest.mark.parametrize("garbage", ["not a uri !!", "2026-02-30", "2026-02-30T00:00:00Z"])
def test_reg_06_garbage_is_refused_in_every_place_that_has_a_format(directory: pathlib.Path, garbage: str) -> None:
    formatted = re.compile(r"https?://|\d{4}-\d\d-\d\d(T.*Z)?$|sha256:")

    def fits(_: Any, __: Path, value: Any) -> bool:
        return isinstance(value, str) and formatted.match(value) is not None

    tried = 0
    for changed in spoiled(directory, fits, lambda whole, place: put(whole, place, garbage)):
        faults, printed = check(directory)
        assert garbage not in printed
        for path, place, _ in changed:
            if place == ("revision",):
                continue  # a name, whatever it looks like
            assert (str(path), pointer(place)) in places_of(faults)
            tried += 1
    assert tried > 25


# REG-07: a pattern with $ lets a newline through


def test_reg_07_a_line_break_after_an_id_is_refused_in_every_place_but_sentences(directory: pathlib.Path) -> None:
    def fits(_: Any, place: Path, value: Any) -> bool:
        # A chat template may well have a control token that ends in a line break.
        # Of a measured capacity the device is a sentence, unlike that of a placement.
        of_measured = place[-2:] == ("capacity", "device")
        free = of_measured or place[-1:] in {(key,) for key in FREE_TEXT}
        return isinstance(value, str) and not free and place[0] != "control_tokens"

    tried = 0
    for changed in spoiled(directory, fits, lambda whole, place: put(whole, place, at(whole, place) + "\n")):
        found = places_of(check(directory)[0])
        for path, place, _ in changed:
            assert (str(path), pointer(place)) in found
            tried += 1
    assert tried > 150


def test_reg_07_a_line_break_in_an_alias_is_refused(directory: pathlib.Path) -> None:
    path = directory / "releases.yaml"
    path.write_text(path.read_text().replace("  chat: chat@1", '  "chat\\n": chat@1'))
    assert "This key does not have the form that is needed." in [fault.sentence for fault in check(directory)[0]]


def test_reg_07_an_id_from_a_block_scalar_is_refused(directory: pathlib.Path) -> None:
    path = directory / ACME
    path.write_text(path.read_text().replace("id: acme\n", "id: |\n  acme\n"))
    assert [(f.path, f.sentence) for f in check(directory)[0] if f.file == str(path)] == [
        ("/id", "This does not have the form that is needed.")
    ]


# REG-08: a validation error prints the secret


@pytest.mark.parametrize("canary", ["sk-CANARY-2", "CANARY value", "canary-lower"])
def test_reg_08_nothing_that_stands_in_a_string_is_ever_printed(directory: pathlib.Path, canary: str) -> None:
    tried = 0
    for changed in spoiled(directory, is_text, lambda whole, place: put(whole, place, canary)):
        faults, printed = check(directory)
        assert faults
        assert "canary" not in printed.lower()
        tried += len(changed)
    assert tried > 200


def test_reg_08_nothing_that_stands_where_an_object_or_a_number_belongs_is_ever_printed(
    directory: pathlib.Path,
) -> None:
    def fits(_: Any, place: Path, value: Any) -> bool:
        return bool(place) and not isinstance(value, str)

    for changed in spoiled(directory, fits, lambda whole, place: put(whole, place, ["sk-CANARY-2", {"k": "CANARY"}])):
        faults, printed = check(directory)
        assert "CANARY" not in printed
        for path, place, _ in changed:
            inside = pointer(place)
            assert [f for f in faults if f.file == str(path) and f.path.startswith(inside)]


def test_reg_08_an_inline_key_in_place_of_a_reference_is_refused(directory: pathlib.Path) -> None:
    path = directory / "credentials" / "openai-eu.yaml"
    path.write_text(path.read_text().replace("env:GATEWAY_SECRET_OPENAI_EU", "sk-CANARY-2").replace("owner", "ownr"))
    faults, printed = check(directory)
    assert {f.sentence for f in faults if f.path == "/secret"} == {"This looks like a secret."}
    assert len(faults) == 3  # the key that is missing and the one that is not known, too
    assert "CANARY" not in printed


# REG-09: an alias bomb

BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 7)]
)


def test_reg_09_an_alias_bomb_in_any_file_is_refused_at_once(directory: pathlib.Path) -> None:
    paths = sorted(directory.rglob("*.yaml"))
    for path in paths:
        path.write_text(f"{path.read_text()}{BOMB}\n")
    started = time.process_time()
    found = load(directory, at_us=AT_US)
    assert time.process_time() - started < 0.1 * len(paths)
    assert isinstance(found, tuple)
    assert {fault.file for fault in found} == {str(path) for path in paths}
    assert {fault.sentence for fault in found} == {"Anchors and aliases are not allowed."}


def test_reg_09_two_megabytes_without_an_alias_load(tmp_path: pathlib.Path) -> None:
    filler = "".join(f"  {'alias' * 11}-{n:06}: chat@1\n" for n in range(28_000))
    directory = copy_registry(tmp_path, [Edit("releases.yaml", "  chat: chat@1\n", "  chat: chat@1\n" + filler)])
    assert (directory / "releases.yaml").stat().st_size > 2_000_000
    assert isinstance(load(directory, at_us=AT_US, strict=True), Loaded)

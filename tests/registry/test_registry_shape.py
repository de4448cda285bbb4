"""Shape: closed at every level, formats asserted, and nothing of a file in what is said about it.

tests/cases/test_registry_cases.py tries the same in every place of a registry.
"""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from registry_examples import NOW_US, digest, faults, files, full_registry

from adapters.registry import Loaded, load, stale_schemas, write_schemas
from adapters.registry.kinds import KINDS
from adapters.registry.schemas import schema_of
from adapters.registry.secret_shapes import has_known_shape, is_dense
from gateway.testkit.registry_copy import EXAMPLE, Edit, copy_registry

GARBAGE = {"uri": "not a uri !!", "date": "2026-02-30", "date-time": "2026-02-30T00:00:00Z"}


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object, at every level."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


def structs(value: Any) -> Iterator[str]:
    """Names of all structs that a value is made of."""
    if isinstance(value, msgspec.Struct):
        yield type(value).__name__
        for name in value.__struct_fields__:
            yield from structs(getattr(value, name))
    elif isinstance(value, dict | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from structs(inner)


def test_the_full_registry_uses_every_struct_of_every_kind(tmp_path: pathlib.Path) -> None:
    loaded = load(full_registry(tmp_path), at_us=NOW_US)
    assert isinstance(loaded, Loaded)
    single = {"Currency", "Privacy", "Releases"}  # taken apart in the snapshot
    assert set(structs(loaded.snapshot)) - {"Snapshot"} | single == {
        title for kind in KINDS for title in schema_of(kind)["$defs"]
    }


def test_REG_04_every_object_of_every_schema_is_closed() -> None:
    found = [schema for kind in KINDS for schema in objects(schema_of(kind))]
    assert len(found) > 20
    for schema in found:
        assert schema["additionalProperties"] is False or schema["propertyNames"]["pattern"]


def test_REG_04_a_key_that_resembles_none_gets_the_list_of_known_ones(tmp_path: pathlib.Path) -> None:
    found = faults(copy_registry(tmp_path, [Edit("privacy.yaml", "classes:", "zzz: 1\nclasses:")]))
    assert [(f.path, f.remedy) for f in found] == [("/zzz", "Known here are: classes.")]


def test_REG_06_every_format_that_a_schema_uses_is_asserted() -> None:
    text = json.dumps([schema_of(kind) for kind in KINDS])
    used = {name for name in Draft202012Validator.FORMAT_CHECKER.checkers if f'"format": "{name}"' in text}
    assert used == set(GARBAGE)
    assert text.count('"format": ') == sum(text.count(f'"format": "{name}"') for name in used)
    for name, garbage in GARBAGE.items():
        assert not Draft202012Validator.FORMAT_CHECKER.conforms(garbage, name)


@pytest.mark.parametrize(
    ("file", "old", "new", "path"),
    [
        ("profiles/smollm2-135m.yaml", "http://127.0.0.1:8091/v1", "not a uri !!", "/endpoint"),
        ("profiles/smollm2-135m.yaml", "http://127.0.0.1:8091/v1", "http://[::/v1", "/endpoint"),
        ("profiles/smollm2-135m.yaml", "http://127.0.0.1:8091/v1", "http://u:p@127.0.0.1:8091/v1", "/endpoint"),
        ("profiles/smollm2-135m.yaml", "http://127.0.0.1:8091/v1", "http://127.0.0.1:8091/v1?a=b", "/endpoint"),
        ("profiles/smollm2-135m.yaml", "checked: 2026-11-30", "checked: 2026-11-31", "/prices/checked"),
        ("profiles/smollm2-135m.yaml", "2028-01-01T00:00:00Z", "2028-01-01T24:00:00Z", "/approvals/0/until"),
        ("bundles/chat@1.yaml", "2028-01-01T00:00:00Z", "2028-02-30T00:00:00Z", "/expires"),
    ],
)  # fmt: skip
def test_REG_06_what_does_not_have_its_format_is_refused(
    file: str, old: str, new: str, path: str, tmp_path: pathlib.Path
) -> None:
    found = faults(copy_registry(tmp_path, [Edit(file, old, new)]))
    assert [(f.path, f.sentence) for f in found] == [(path, "This does not have the form that is needed.")]


@pytest.mark.parametrize(
    "line",
    ["CANARY", "a: [CANARY", "a: 'CANARY", "a: b: CANARY", "a: @CANARY", 'a: "\\qCANARY"', "a: &CANARY 1", "a: *CANARY",
     "a: !CANARY 1", "a: CANARY\x07", "sk-CANARY-222: 1", "CANARY value: 1", "CANARY9f86d081884c7d659a2fe: 1",
     "%CANARY 1\n---"],
)  # fmt: skip
def test_REG_08_nothing_of_a_broken_line_is_told(line: str, tmp_path: pathlib.Path) -> None:
    found = faults(copy_registry(tmp_path, [Edit("privacy.yaml", "classes:\n", f"{line}\nclasses:\n")]))
    assert found
    assert "CANARY" not in repr(found) + "".join(map(str, found))


SECRETS = [
    "sk-CANARY-2", "sk-proj-abcDEF1234567890", "Bearer abcdefgh12345678", "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz012345", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.x", "hf_abcdefghijklmnopqrstuvwx",
    "xoxb-123456789012-abc", "-----BEGIN RSA PRIVATE KEY-----",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_REG_08_a_text_with_the_form_of_a_known_secret_is_refused_anywhere(secret: str, tmp_path: pathlib.Path) -> None:
    assert has_known_shape(secret)
    edit = Edit("tenants/acme.yaml", "title: Acme, the example", f"title: 'key {secret}'")
    found = faults(copy_registry(tmp_path, [edit]))
    assert [(f.path, f.sentence) for f in found] == [("/title", "This looks like a secret.")]


def test_REG_08_a_random_text_in_place_of_a_reference_is_refused(tmp_path: pathlib.Path) -> None:
    edit = Edit("credentials/example-key.yaml", "env:GATEWAY_SECRET_EXAMPLE", "file:9f86d081884c7d659a2feaa0c55ad015")
    found = faults(full_registry(tmp_path, [edit]))
    assert [(f.path, f.sentence) for f in found] == [("/secret", "This looks like a secret.")]


@pytest.mark.parametrize(
    "text", ["risk-assessment-2026", "sk-telecom", "Reviewed on 2026-11-30 by the board", "task-2-of-3"]
)
def test_ordinary_words_are_not_taken_for_secrets(text: str) -> None:
    assert not has_known_shape(text)
    assert not is_dense(text)


def test_a_commit_is_a_revision_and_not_a_secret(tmp_path: pathlib.Path) -> None:
    commit = Edit("profiles/smollm2-135m.yaml", "revision: q4_1", "revision: 12fd25f77366fa6b3b4b768ec3050bf629380bac")
    assert faults(copy_registry(tmp_path, [commit])) == []


def test_the_committed_schemas_are_the_ones_that_the_structs_generate() -> None:
    assert stale_schemas(EXAMPLE) == []


def test_a_stale_a_missing_and_a_stray_schema_are_faults(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    folder = directory / "schemas"
    (folder / "tenant.schema.json").write_text("{}")
    (folder / "bundle.schema.json").unlink()
    (folder / "other.schema.json").write_text("{}")
    assert [(pathlib.Path(f.file).name, f.sentence) for f in stale_schemas(directory)] == [
        ("bundle.schema.json", "The generated schema is missing."),
        ("other.schema.json", "No kind has this schema."),
        ("tenant.schema.json", "The schema differs from the one that the structs generate."),
    ]
    (folder / "other.schema.json").unlink()
    (folder / ".hidden").touch()
    (folder / "purpose.schema.json").rename(folder / "nested")
    (folder / "purpose.schema.json").mkdir()
    assert [pathlib.Path(f.file).name for f in stale_schemas(directory)] == [
        ".hidden",
        "bundle.schema.json",
        "nested",
        "purpose.schema.json",
        "tenant.schema.json",
    ]
    (folder / ".hidden").unlink()
    (folder / "nested").unlink()
    (folder / "purpose.schema.json").rmdir()
    write_schemas(directory)
    assert stale_schemas(directory) == []


def test_a_registry_loads_without_its_schemas_folder(tmp_path: pathlib.Path) -> None:
    directory = copy_registry(tmp_path)
    before = digest(directory)
    for path in (directory / "schemas").iterdir():
        path.unlink()
    (directory / "schemas").rmdir()
    assert digest(directory) == before


@pytest.mark.parametrize("path", files(EXAMPLE), ids=lambda path: path.name)
def test_every_example_names_its_schema_for_editors(path: pathlib.Path) -> None:
    prefix = "# yaml-language-server: $schema="
    first = path.read_text().splitlines()[0]
    assert first.startswith(prefix)
    place = path.relative_to(EXAMPLE).parts[0]
    kind = next(kind for kind in KINDS if kind.place == place)
    assert (path.parent / first.removeprefix(prefix)).resolve() == EXAMPLE / "schemas" / f"{kind.name}.schema.json"

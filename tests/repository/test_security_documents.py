"""The threat model speaks of every field that is read, its claims name what exists, and every path has its owners."""

import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec import Struct

import gateway.api
from gateway import http_protocol
from gateway.api.chat_body import MAX_SOURCES, ChatBody
from gateway.api.strict_json import MAX_DEPTH
from gateway.testkit import api_page

MODEL = "THREAT_MODEL.md"
_NAME = re.compile(r"^`([^`]+)`$")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)")
_READ = re.compile(r'\bheaders\.(?:get|getlist)\("([\w-]+)"')
_READ_OTHERWISE = re.compile(r'\bheaders\.(?:items|keys|values|raw|mutablecopy)\b|scope\["headers"\]|http\.headers\[')
_TABLES = ("Connection, path and query", "Headers", "Body", "What an administrator says", "What an engine says")
_SECURITY, _MAINTAINERS = "@policy-gateway/security", "@policy-gateway/maintainers"


def _rows(page: str, heading: str) -> list[list[str]]:
    """Cells of the table in a section, without its head and rule."""
    (_, found) = re.split(rf"^#+ {re.escape(heading)}$", page, flags=re.MULTILINE)
    lines = re.split(r"^#+ ", found, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def _named(page: str, heading: str) -> list[str]:
    """The names between backticks that are a whole first cell."""
    return [found[1] for row in _rows(page, heading) if (found := _NAME.match(row[0]))]


def _fields(kind: type[Struct]) -> list[str]:
    """Every field of a body by its path, as docs/api.md names it."""
    lines = list(api_page.fields(kind, defaultdict(str)))[2:]
    # A field whose type depends on the role of its message has a row for each.
    return list(dict.fromkeys(line.split("`")[1] for line in lines))


def _administrators_bodies() -> Iterator[type[Struct]]:
    for found in pkgutil.iter_modules(gateway.api.__path__, "gateway.api."):
        for kind in vars(importlib.import_module(found.name)).values():
            is_body = isinstance(kind, type) and issubclass(kind, Struct) and kind.__name__.endswith("Body")
            if is_body and kind is not ChatBody and kind.__module__ == found.name:
                yield kind


def test_every_field_of_a_generation_stands_in_the_threat_model(texts: Mapping[str, str]) -> None:
    assert _named(texts[MODEL], "Body") == _fields(ChatBody)


def test_a_field_that_the_threat_model_lacks_is_found(texts: Mapping[str, str]) -> None:
    without = re.sub(r"^\| `gateway\.sources\[\]\.revision` .*\n", "", texts[MODEL], flags=re.MULTILINE)
    assert without != texts[MODEL]
    assert _named(without, "Body") != _fields(ChatBody)


def test_every_header_that_is_read_stands_in_the_threat_model(texts: Mapping[str, str]) -> None:
    doors = {
        name: text for name, text in texts.items() if re.match(r"gateway/(api/|server\.py|http_protocol\.py)", name)
    }
    read = {header.lower() for text in doors.values() for header in _READ.findall(text)}
    assert set(_named(texts[MODEL], "Headers")) == read
    assert {"authorization", "idempotency-key"} <= read
    # Read in another way it would not be seen above.
    assert [name for name, text in doors.items() if _READ_OTHERWISE.search(text)] == []


def test_every_field_of_an_administrators_body_stands_in_the_threat_model(texts: Mapping[str, str]) -> None:
    bodies = list(_administrators_bodies())
    assert len(bodies) >= 4
    # A struct within a body is named with the field that holds it.
    whole = [kind for kind in bodies if not any(_holds(other, kind) for other in bodies)]
    needed = {field for kind in whole for field in _fields(kind)}
    assert set(_named(texts[MODEL], "What an administrator says")) == needed


def _holds(outer: type[Struct], inner: type[Struct]) -> bool:
    return outer is not inner and any(inner.__name__ in str(hint) for hint in outer.__annotations__.values())


@pytest.mark.parametrize("heading", _TABLES)
def test_every_field_is_verified_or_claimed_and_a_lie_has_a_consequence(texts: Mapping[str, str], heading: str) -> None:
    rows = _rows(texts[MODEL], heading)
    assert rows
    for row in rows:
        assert re.match(r"verified|claimed", row[1]), row[0]
        assert row[2], row[0]
        assert row[3], row[0]


@pytest.mark.parametrize("heading", [heading for heading in _TABLES if heading != "What an administrator says"])
def test_every_claim_about_a_field_names_what_shows_it(texts: Mapping[str, str], heading: str) -> None:
    assert [row[0] for row in _rows(texts[MODEL], heading) if not _LINK.search(row[4])] == []


def test_what_is_named_as_a_test_is_one(root: Path, texts: Mapping[str, str]) -> None:
    links = _LINK.findall(texts[MODEL])
    tests = [(words, target) for words, target in links if words.startswith("test_")]
    assert len(tests) > 40
    # The words are the module's name, so that a reader who has them in print finds it.
    assert [words for words, target in tests if Path(target).stem != words] == []
    assert [target for _, target in links if not (root / target).exists()] == []
    named = re.findall(r"`(test_\w+)`", texts[MODEL])
    code = "\n".join(text for name, text in texts.items() if name.startswith("tests/"))
    assert [name for name in named if f"def {name}(" not in code] == []


def test_the_bounds_that_the_threat_model_states_are_the_ones_of_the_code(texts: Mapping[str, str]) -> None:
    rows = {row[0]: row[2] for row in _rows(texts[MODEL], "Connection, path and query")}
    assert rows["size and time of the head"] == (
        f"{http_protocol.HEAD_BYTES // 1024} KiB, {http_protocol.HEADERS} headers, "
        f"{http_protocol.URL_BYTES // 1024} KiB of path, {http_protocol.HEAD_WITHIN_S:.0f} s"
    )
    assert f"{MAX_DEPTH} levels" in rows["encoding and form of the body"]
    fields = {row[0]: row[2] for row in _rows(texts[MODEL], "Body")}
    assert f"at most {MAX_SOURCES}," in fields["`gateway.sources`"]
    assert http_protocol.SHARE_OF_DESCRIPTORS == 2, "the threat model says half"


def test_the_settings_and_files_that_the_checklist_names_exist(texts: Mapping[str, str]) -> None:
    page = texts["SECURITY.md"]
    for name in re.findall(r"`(GATEWAY_[A-Z_]+)`", page):
        assert f"`{name}`" in texts["docs/settings.md"], name
    assert "`operator.key`" in page
    assert page.count("- [ ]") >= 20


def _owners(text: str) -> list[tuple[str, str]]:
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [(pattern, " ".join(owners)) for pattern, *owners in lines]


def _owner(path: str, text: str) -> str:
    """Whose approval a change of ``path`` needs: the last pattern that fits counts."""
    fits = [owner for pattern, owner in _owners(text) if pattern == "*" or _is_below(path, pattern)]
    return fits[-1] if fits else ""


def _is_below(path: str, pattern: str) -> bool:
    return f"/{path}".startswith(pattern) if pattern.endswith("/") else f"/{path}" == pattern


def test_every_path_that_has_owners_of_its_own_exists(root: Path, texts: Mapping[str, str]) -> None:
    patterns = [pattern for pattern, _ in _owners(texts["CODEOWNERS"])]
    assert patterns[0] == "*", "what has no owner of its own needs one"
    # From the root and without wildcards: so both forges, and this test, read them alike.
    assert [pattern for pattern in patterns[1:] if not re.fullmatch(r"/[\w./-]+", pattern)] == []
    wrong = [
        pattern
        for pattern in patterns[1:]
        if not (root / pattern[1:]).exists() or (root / pattern[1:]).is_dir() != pattern.endswith("/")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "path",
    [
        "policies/gateway/checks/checks.rego",
        "policies/golden/routes-released.json",
        "policies/schemas/input.json",
        "registry/tenants/acme.yaml",
        "registry/privacy.yaml",
        "registry/schemas/tenant.schema.json",
        "adapters/policy/opa.py",
        "adapters/policy/check.py",
        "adapters/policy/check_folders.py",
        "adapters/registry/approvals.py",
        "gateway/domain/questions.py",
        "gateway/domain/tenant.py",
        "gateway/domain/profile.py",
        "gateway/domain/bundle.py",
        "gateway/domain/snapshot.py",
        "gateway/domain/source.py",
        "gateway/service/administer.py",
        "gateway/service/steps/authorise.py",
        "gateway/service/steps/select.py",
        "features/privacy.feature",
        "pyproject.toml",
        "Makefile",
        ".ci/run",
        "requirements/runtime.txt",
        "requirements/dev.txt",
        "requirements/uv.txt",
        "CODEOWNERS",
        "THREAT_MODEL.md",
    ],
)
def test_security_approves_who_may_do_what_and_what_checks_it(root: Path, texts: Mapping[str, str], path: str) -> None:
    assert (root / path).is_file()
    assert _owner(path, texts["CODEOWNERS"]) == _SECURITY


def test_all_else_is_the_maintainers(texts: Mapping[str, str]) -> None:
    assert {_owner(path, texts["CODEOWNERS"]) for path in texts} == {_SECURITY, _MAINTAINERS}
    assert _owner("gateway/api/chat.py", texts["CODEOWNERS"]) == _MAINTAINERS
    assert _owner("policies", texts["CODEOWNERS"]) == _MAINTAINERS  # a file of that name is not the folder


def test_a_later_pattern_that_takes_a_path_away_is_found(texts: Mapping[str, str]) -> None:
    after = texts["CODEOWNERS"] + f"/policies/gateway/ {_MAINTAINERS}\n"
    assert _owner("policies/gateway/gateway.rego", after) == _MAINTAINERS
    assert _owner("policies/golden/routes-released.json", after) == _SECURITY


def test_no_other_file_of_owners_is_read_instead(texts: Mapping[str, str]) -> None:
    # GitHub takes the first of .github/, the root and docs/; GitLab of the root, docs/ and .gitlab/.
    assert [name for name in texts if name.rpartition("/")[2] == "CODEOWNERS"] == ["CODEOWNERS"]


@pytest.mark.parametrize("page", [MODEL, "SECURITY.md", "CODEOWNERS"])
def test_the_pages_of_security_are_found_from_the_first_page(texts: Mapping[str, str], page: str) -> None:
    assert f"]({page})" in texts["README.md"]

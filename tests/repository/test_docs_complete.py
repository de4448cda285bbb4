"""What the pages list is complete, and what they link to is there."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import click
import msgspec
import pytest
from starlette.routing import Route

from adapters.policy.schemas import QUESTIONS
from adapters.registry.kinds import KINDS
from adapters.transport.llama_cpp import Reason as LlamaCppReason
from adapters.transport.vllm import Reason as VllmReason
from gateway.api.app import create_app
from gateway.api.body import BodyBounds
from gateway.cli.main import gateway
from gateway.domain import outcome
from gateway.domain.budget import Reservation
from gateway.domain.completion import FinishReason
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import State
from gateway.domain.principal import BUILT_IN_OPERATOR, Caller
from gateway.domain.reconciliation import Act, ActKind, conclude
from gateway.domain.refusal import Code
from gateway.domain.usage import Usage
from gateway.ports.secrets import NotHeld
from gateway.ports.transport import ReadinessState
from gateway.service.inspect import STAGES
from gateway.service.lifecycle import NO_SERVER
from gateway.settings import PREFIX, Settings
from gateway.testkit import api_page
from gateway.testkit.features import read_features

_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


def test_the_tables_of_the_interface_page_are_up_to_date(texts: Mapping[str, str]) -> None:
    page = texts["docs/api.md"]
    assert api_page.render(page) == page, "Run: python -m gateway.testkit.api_page"


def test_a_changed_table_is_found(texts: Mapping[str, str]) -> None:
    page = texts["docs/api.md"].replace("| `unauthenticated` | 401 |", "| `unauthenticated` | 403 |")
    assert page != texts["docs/api.md"]
    assert api_page.render(page) != page


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="fields"):
        api_page.render("# The HTTP interface")


def test_every_route_stands_in_the_interface_page_and_no_other(texts: Mapping[str, str]) -> None:
    app = create_app(
        cast(Any, Everything()),  # only handlers use the services
        bounds=BodyBounds(max_bytes=1, within_s=1),
        render_metrics=bytes,
    )
    served = {
        f"{method} {route.path}"
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert set(_first_column(texts["docs/api.md"], "Paths")) == served


def test_every_header_that_is_sent_stands_in_the_interface_page(texts: Mapping[str, str]) -> None:
    sent = {
        assigned or listed
        for module in ("problems", "chat", "operations")
        for assigned, listed in re.findall(
            r'headers\["([\w-]+)"\]|^ +"([A-Z][\w-]+)": ', texts[f"gateway/api/{module}.py"], re.MULTILINE
        )
    }
    assert {"Operation-Id", "x-should-retry", "Retry-After"} <= sent
    assert {name.partition(":")[0] for name in _first_column(texts["docs/api.md"], "Headers of an answer")} == sent


def test_the_settings_page_lists_every_setting_with_its_default(texts: Mapping[str, str]) -> None:
    rows = {row[0]: row[1] for row in _rows(texts["docs/settings.md"], "Settings")}
    fields = msgspec.structs.fields(Settings)
    assert rows == {f"`{PREFIX}{field.name.upper()}`": f"`{field.default}`" for field in fields}


def test_the_operations_page_explains_every_state_and_every_detail(texts: Mapping[str, str]) -> None:
    page = texts["docs/operations.md"]
    assert _first_column(page, "States") == [state.value for state in State]
    kinds = (outcome.NotSent, outcome.Rejected, outcome.Failed, outcome.Unclear, FinishReason)
    explained = set(_INLINE.findall(_section(page, "Details")))
    assert {detail for kind in kinds for detail in get_args(kind)} - explained == set()


def test_the_operations_page_explains_every_detail_that_an_operator_causes(texts: Mapping[str, str]) -> None:
    acts = [
        Act(
            kind=kind,
            operation_id="o-1",
            actor=Caller(BUILT_IN_OPERATOR, b""),
            os_user=None,
            words="because",
            used=Usage(1, 1) if kind == "charged" else None,
        )
        for kind in get_args(ActKind)
    ]
    details = {
        concluded.detail
        for act in acts
        if (concluded := conclude(act, Reservation(1, 1), Tariff((Tier(0, 0, 0),)))) is not None
    }
    assert len(details) == 3
    assert details - set(_INLINE.findall(_section(texts["docs/operations.md"], "Details"))) == set()


def test_the_operations_page_names_every_stage(texts: Mapping[str, str]) -> None:
    assert set(STAGES.values()) - set(_INLINE.findall(_section(texts["docs/operations.md"], "States"))) == set()


def test_the_operations_page_explains_every_event_of_a_timeline(texts: Mapping[str, str]) -> None:
    (named,) = re.findall(r'"""One of: ([^"]+)\."""', texts["gateway/ports/reads.py"])
    shown = {
        word for row in _rows(texts["docs/operations.md"], "What the ledger shows") for word in _INLINE.findall(row[0])
    }
    assert shown == set(named.split(", "))


def test_every_option_of_a_command_that_a_page_shows_exists(texts: Mapping[str, str]) -> None:
    shown = [
        (page, line)
        for page, text in texts.items()
        if re.fullmatch(r"[A-Z]+\.md|docs/[\w-]+\.md", page)
        for line in re.findall(r"\bgateway ([a-z][^`\n]*)", text)
        if "--" in line
    ]
    assert len(shown) > 10
    assert [f"{page}: {line}" for page, line in shown if not _has_options(line)] == []


@pytest.mark.parametrize(
    ("line", "has"),
    [
        ("operations write-off OPERATION --reason 'none'", True),
        ("operations write-off OPERATION --because 'none'", False),
        ("ledger verify --json", True),
        ("ledger verify --timeline", False),
    ],
)
def test_an_option_that_does_not_exist_is_found(line: str, has: bool) -> None:
    assert _has_options(line) is has


def test_the_operations_page_explains_every_readiness(texts: Mapping[str, str]) -> None:
    explained = set(_INLINE.findall(_section(texts["docs/operations.md"], "Readiness")))
    reasons = {*get_args(LlamaCppReason), *get_args(VllmReason), *get_args(NotHeld), NO_SERVER.reason}
    assert {*get_args(ReadinessState), *reasons} - explained == set()


def test_the_operations_page_lists_every_invariant_that_is_verified(texts: Mapping[str, str]) -> None:
    verified = re.findall(r"^def (i\d+)_", texts["adapters/store/verify.py"], re.MULTILINE)
    listed = re.findall(r"^- (I\d+) ", _section(texts["docs/operations.md"], "Invariants"), re.MULTILINE)
    assert [name.lower() for name in listed] == verified


def test_the_registry_page_lists_every_kind(texts: Mapping[str, str]) -> None:
    kinds = {row[0].replace(" ", "-"): row[1].strip("`") for row in _rows(texts["docs/registry.md"], "Kinds")}
    assert kinds.keys() == {kind.name for kind in KINDS}
    assert all(kinds[kind.name].startswith(kind.place) for kind in KINDS)


def test_the_policy_guide_lists_every_question(texts: Mapping[str, str]) -> None:
    shown = [re.sub(r"\[`(\w+)`\].*", r"\1", row[0]) for row in _rows(texts["docs/policy-guide.md"], "Questions")]
    assert shown == list(QUESTIONS)


def test_the_readme_gives_a_status_to_every_promise(texts: Mapping[str, str]) -> None:
    rows = _rows(texts["README.md"], "What it guarantees")
    assert [row[0] for row in rows] == [f"G{n}" for n in range(1, 13)]


def test_refusals_and_types_that_the_boundaries_name_exist(texts: Mapping[str, str]) -> None:
    code = "\n".join(text for name, text in texts.items() if name.startswith(("gateway/", "adapters/")))
    words = _INLINE.findall(texts["docs/boundaries.md"])
    types = {word for word in words if re.fullmatch(r"(?:[A-Z][a-z]+)+", word)}
    assert len(types) > 15
    assert [word for word in types if not re.search(rf"^(class {word}\b|{word} = )", code, re.MULTILINE)] == []
    codes = {word for word in words if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", word)}
    assert len(codes) > 10
    assert codes - {*Code, *State} == set()


def test_every_link_of_a_page_leads_to_a_place_in_a_file(root: Path, texts: Mapping[str, str]) -> None:
    dead = [f"{page}: {link}" for page, _, link in _links(texts) if not _leads_somewhere(page, link, texts, root)]
    assert dead == []


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("docs/settings.md", True),
        ("docs/operations.md#the-data-directory", True),
        ("docs/operations.md#no-such-heading", False),
        ("docs/nothing.md", False),
        ("#quick-start", True),
        ("#slow-start", False),
    ],
)
def test_a_link_that_leads_nowhere_is_found(root: Path, texts: Mapping[str, str], link: str, leads: bool) -> None:
    assert _leads_somewhere("README.md", link, texts, root) is leads


def test_a_link_to_a_feature_names_it_or_one_of_its_scenarios(root: Path, texts: Mapping[str, str]) -> None:
    names = {
        feature.path.relative_to(root).as_posix(): {feature.title, *(scenario.name for scenario in feature.scenarios)}
        for feature in read_features(root / "features")
    }
    links = [(page, text, link) for page, text, link in _links(texts) if link.endswith(".feature")]
    wrong = [
        f"{page}: [{text}]({link})"
        for page, text, link in links
        if page != "docs/behaviours.md" and text not in names[_target(page, link)]
    ]
    assert wrong == []
    assert len({link for page, _, link in links if page == "README.md"}) >= 7


def test_the_picture_needs_no_variables_of_css_which_only_browsers_resolve(texts: Mapping[str, str]) -> None:
    assert "var(" not in texts["docs/architecture.svg"]


def test_every_page_is_reached_from_the_readme(texts: Mapping[str, str]) -> None:
    onward: dict[str, set[str]] = {}
    for page, _, link in _links(texts):
        onward.setdefault(page, set()).add(_target(page, link.partition("#")[0]))
    reached, ahead = set[str](), {"README.md"}
    while ahead:
        reached |= ahead
        ahead = {target for page in ahead for target in onward.get(page, ())} - reached
    pages = {name for name in texts if name.startswith("docs/") and name.endswith(".md")}
    assert pages - reached - {name for name in pages if name.startswith("docs/adr/")} == set()


def test_the_architecture_page_lists_every_decision_by_its_title(texts: Mapping[str, str]) -> None:
    listed = re.findall(r"^- \[(\d{4})\]\((adr/[^)]+)\) (.+)$", texts["docs/architecture.md"], re.MULTILINE)
    titles = sorted(
        (name.removeprefix("docs/"), text.splitlines()[0].removeprefix("# "))
        for name, text in texts.items()
        if name.startswith("docs/adr/")
    )
    assert [(target, f"{number} {title}") for number, target, title in listed] == titles


def test_decisions_are_numbered_without_a_gap_and_have_their_parts(texts: Mapping[str, str]) -> None:
    records = sorted(name for name in texts if name.startswith("docs/adr/"))
    assert [name.split("/")[2][:4] for name in records] == [f"{n:04}" for n in range(1, len(records) + 1)]
    for name in records:
        assert re.match(rf"# {name.split('/')[2][:4]} ", texts[name]), name
        parts = re.findall(r"^\*\*(Context|Decision|Consequences|Alternatives)\b", texts[name], re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences", "Alternatives"], name


class Everything:
    """Has every attribute."""

    def __getattr__(self, _: str) -> None:
        return None


def _has_options(line: str) -> bool:
    command: click.Command = gateway
    words = line.partition("#")[0].split()
    for word in words:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        command = command.commands[word]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return {word for word in words if word.startswith("--")} <= known


def _section(page: str, heading: str) -> str:
    """The text under a heading, down to the next one of any level."""
    (_, found) = re.split(rf"^#+ {re.escape(heading)}$", page, flags=re.MULTILINE)
    return re.split(r"^#+ ", _FENCE.sub("", found), maxsplit=1, flags=re.MULTILINE)[0]


def _rows(page: str, heading: str) -> list[list[str]]:
    """Cells of the table rows in a section, without heads and rules."""
    lines = _section(page, heading).splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line, above in zip(lines, ["", *lines], strict=False)
        if line.startswith("| ") and above.startswith("|")
    ]


def _first_column(page: str, heading: str) -> list[str]:
    """The words between backticks in the first cell of each row."""
    return [words[0] for row in _rows(page, heading) if (words := _INLINE.findall(row[0]))]


def _links(texts: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Page, text and target of every link within the repository."""
    for page, text in texts.items():
        if page.endswith(".md"):
            for words, target in _LINK.findall(_FENCE.sub("", text)):
                if "://" not in target and not target.startswith("mailto:"):
                    yield page, words, target


def _target(page: str, link: str) -> str:
    parts: list[str] = []
    for part in [*page.split("/")[:-1], *link.split("/")]:
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _leads_somewhere(page: str, link: str, texts: Mapping[str, str], root: Path) -> bool:
    file, _, anchor = link.partition("#")
    target = _target(page, file) if file else page
    if not anchor:
        return (root / target).exists()
    return anchor in {_slug(heading) for heading in _HEADING.findall(_FENCE.sub("", texts.get(target, "")))}


def _slug(heading: str) -> str:
    """The anchor that a heading gets."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")

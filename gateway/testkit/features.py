"""Feature files as values: what the guards and the behaviours check read of them.

pytest-bdd keeps scenarios in a dictionary by name, so the second of two with one name is gone before a test
can see it. Here every scenario of the file is listed.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from pytest_bdd.exceptions import GherkinParseError
from pytest_bdd.gherkin_parser import Child, Feature, Step, Tag, get_gherkin_document
from pytest_bdd.gherkin_parser import Scenario as ParsedScenario

DOORS = ("policy", "service", "cli", "http")
"""Where a scenario may run: against the Rego, the service, the command line, over HTTP. Tags of the same names
choose."""


class Scenario(Struct, frozen=True, kw_only=True):
    """One scenario of a feature file, as written."""

    file: Path
    line: int
    rule: str
    """Name of the rule it stands under; empty without one."""
    name: str
    tags: frozenset[str]
    """Without the @; those of its rule and its feature included."""
    steps: tuple[str, ...]
    """Texts of its own steps. Those of a background are not here."""
    has_outcome: bool
    """One of its own steps is a Then."""
    example_rows: int | None
    """None: no outline."""
    tags_of_examples: frozenset[str]

    @property
    def doors(self) -> tuple[str, ...]:
        return tuple(door for door in DOORS if door in self.tags)


class FeatureFile(Struct, frozen=True, kw_only=True):
    """One feature file."""

    path: Path
    title: str
    description: str
    scenarios: tuple[Scenario, ...]


class UnreadableFeature(Exception):
    """A feature file that is not well-formed Gherkin; the text names file and line."""


def read_feature(path: Path) -> FeatureFile:
    """Read one feature file.

    :raises UnreadableFeature: where it is not well-formed.
    """
    try:
        feature = get_gherkin_document(str(path)).feature
    except GherkinParseError as error:
        raise UnreadableFeature(f"{path}:{error.line}: {error.message}") from error
    except KeyError as error:
        raise UnreadableFeature(f"{path}: The file holds no Feature. Write one, or remove the file.") from error
    return FeatureFile(
        path=path,
        title=feature.name,
        description=" ".join(feature.description.split()),
        scenarios=tuple(_scenarios(path, feature)),
    )


def read_features(folder: Path) -> list[FeatureFile]:
    """All feature files below a folder, by path.

    :raises UnreadableFeature: for the first that is not well-formed.
    """
    return [read_feature(path) for path in sorted(folder.rglob("*.feature"))]


def _scenarios(path: Path, feature: Feature) -> Iterator[Scenario]:
    tags = _names(feature.tags)
    for child in feature.children:
        if child.rule:
            for inner in child.rule.children:
                yield from _scenario(path, inner, child.rule.name, tags | _names(child.rule.tags))
        else:
            yield from _scenario(path, child, "", tags)


def _scenario(path: Path, child: Child, rule: str, inherited: frozenset[str]) -> Iterator[Scenario]:
    parsed = child.scenario
    if parsed is None:
        return
    yield Scenario(
        file=path,
        line=parsed.location.line,
        rule=rule,
        name=parsed.name,
        tags=inherited | _names(parsed.tags),
        steps=tuple(step.text for step in parsed.steps),
        has_outcome=any(map(_is_outcome, parsed.steps)),
        example_rows=_rows(parsed),
        tags_of_examples=frozenset().union(*(_names(examples.tags) for examples in parsed.examples)),
    )


def _names(tags: list[Tag]) -> frozenset[str]:
    return frozenset(tag.name.removeprefix("@") for tag in tags)


def _is_outcome(step: Step) -> bool:
    return step.keyword_type == "Outcome"


def _rows(parsed: ParsedScenario) -> int | None:
    if parsed.keyword not in {"Scenario Outline", "Scenario Template"} and not parsed.examples:
        return None
    return sum(len(examples.table_body or ()) for examples in parsed.examples)

"""docs/behaviours.md: the features as a reader meets them, then which scenario shows which behaviour."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from gateway.testkit.features import FeatureFile, Scenario

_HEAD = """\
# Behaviours

Written by `make schemas` from the feature files; change those, not this page. The first part lists every
scenario, the second which scenario shows each promise, refusal, move and policy code.
"""


class Behaviour(Struct, frozen=True):
    """What a scenario can show."""

    group: str
    tag: str
    sentence: str


def render(
    behaviours: Sequence[Behaviour], features: Sequence[FeatureFile], reasons: Mapping[str, str], root: Path
) -> str:
    """The whole page. ``reasons`` says for a tag why it has no scenario yet."""
    lines = [_HEAD]
    for feature in features:
        lines += _feature(feature, {behaviour.tag for behaviour in behaviours}, root)
    scenarios = [scenario for feature in features for scenario in feature.scenarios]
    for group, members in groupby(behaviours, key=lambda behaviour: behaviour.group):
        lines += [f"## {group}", "", "| tag | meaning | shown by |", "|---|---|---|"]
        for behaviour in members:
            shown = [
                _link(scenario.name, scenario.file, root) for scenario in scenarios if behaviour.tag in scenario.tags
            ]
            by = "<br>".join(shown) or f"not yet: {_cell(reasons.get(behaviour.tag, 'no reason given'))}"
            lines.append(f"| `@{behaviour.tag}` | {_cell(behaviour.sentence)} | {by} |")
        lines.append("")
    return "\n".join(lines)


def _feature(feature: FeatureFile, tags: set[str], root: Path) -> Iterator[str]:
    yield f"## {_link(feature.title, feature.path, root)}"
    yield ""
    if feature.description:
        yield from (feature.description, "")
    for rule, scenarios in groupby(feature.scenarios, key=lambda scenario: scenario.rule):
        if rule:
            yield from (f"Rule: {rule}", "")
        yield from ("| scenario | through | shows |", "|---|---|---|")
        for scenario in scenarios:
            yield f"| {_cell(scenario.name)} | {', '.join(scenario.doors)} | {_shows(scenario, tags)} |"
        yield ""


def _shows(scenario: Scenario, tags: set[str]) -> str:
    return " ".join(f"`@{tag}`" for tag in sorted(scenario.tags & tags))


def _link(text: str, file: Path, root: Path) -> str:
    return f"[{_cell(text)}](../{file.relative_to(root).as_posix()})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

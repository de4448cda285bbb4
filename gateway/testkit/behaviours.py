"""Every behaviour has a scenario, and docs/behaviours.md shows which.

A behaviour is a refusal code, a legal move of an attempt, a promise of the design or a code of a policy. The
scenario that shows it carries its tag: ``@code-unknown_model``, ``@move-granted-dispatching`` (``none`` stands
for "no attempt yet"), ``@G4``, ``@policy-purpose_not_allowed``. What has no scenario yet stands in
features/not_covered.yaml with a reason, and that list may only shrink.

``python -m gateway.testkit.behaviours check`` (part of ``make check``) says what is missing; ``write`` (part
of ``make schemas``) writes the page.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import msgspec
import yaml
from msgspec import Struct

from gateway.domain.operation import LEGAL_MOVES, State
from gateway.domain.refusal import MEANINGS
from gateway.testkit.behaviours_page import Behaviour, render
from gateway.testkit.features import FeatureFile, UnreadableFeature, read_features

PAGE = Path("docs/behaviours.md")
NOT_COVERED = Path("features/not_covered.yaml")

PROMISES: Mapping[str, str] = {
    "G1": "An operation has at most one attempt whose effect is possible.",
    "G2": "Nothing of a request leaves before dispatching is durable, and nothing without a fresh grant.",
    "G3": "Completed is acknowledged only after result and settlement are durable.",
    "G4": "A duplicate never dispatches.",
    "G5": "An unknown outcome keeps its reservation until evidence or a named operator closes it.",
    "G6": "A saved answer is shown again only under today's access to every original source.",
    "G7": "Nothing in a request can name, add or widen a destination, or lower the privacy class.",
    "G8": "Input and output are held to the profile's bounds; the reserved cap is the cap on the wire.",
    "G9": "Budgets are shared, reserved before transport, never exceeded by races, and conserved.",
    "G10": "Policy that cannot be evaluated refuses, reserves nothing, and never means allow.",
    "G11": "No prompt, answer, key or token in logs, metrics, traces, errors or audit rows.",
    "G12": "A profile serves only while its intended revision and envelope are attested ready.",
}

_TAG = re.compile(r"(code|move|policy)-.*|G\d+")
_METADATA = re.compile(r"^# METADATA\n((?:#.*\n)*)", re.MULTILINE)


class Waiver(Struct, frozen=True, forbid_unknown_fields=True):
    """Behaviours that have no scenario yet, and why."""

    reason: str
    behaviours: list[str]


def known_behaviours(root: Path) -> list[Behaviour]:
    """Every behaviour of the gateway and of the policies below ``root``."""
    codes = [Behaviour("Refusals", f"code-{code}", meaning.sentence) for code, meaning in MEANINGS.items()]
    promises = [Behaviour("Promises", tag, sentence) for tag, sentence in PROMISES.items()]
    policies = [
        Behaviour("Policy codes", f"policy-{code}", title)
        for code, title in sorted(_policy_codes(root / "policies").items())
    ]
    return [*promises, *codes, *_moves(), *policies]


def _moves() -> Iterator[Behaviour]:
    order = [None, *State]
    for before, after in sorted(LEGAL_MOVES, key=lambda move: (order.index(move[0]), order.index(move[1]))):
        name = before or "none"
        yield Behaviour("Moves of an attempt", f"move-{name}-{after}", f"From {name} to {after}.")


def _policy_codes(policies: Path) -> dict[str, str]:
    """Codes of the checks, with their titles, from the METADATA above each rule."""
    codes = {}
    for path in policies.rglob("*.rego"):
        for block in _METADATA.findall(path.read_text(encoding="utf-8")):
            metadata = yaml.safe_load("".join(line[2:] + "\n" for line in block.splitlines())) or {}
            if code := metadata.get("custom", {}).get("code"):
                codes[code] = str(metadata.get("title", ""))
    return codes


def read_waivers(path: Path) -> list[Waiver]:
    """The list of behaviours without a scenario.

    :raises msgspec.ValidationError: where the file is not a list of reasons, each with behaviours.
    """
    if not path.exists():
        return []
    return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")) or [], list[Waiver])


def faults(behaviours: list[Behaviour], features: list[FeatureFile], waivers: list[Waiver]) -> Iterator[str]:
    """What is missing, and what the list of waivers names wrongly; a sentence each."""
    known = {behaviour.tag for behaviour in behaviours}
    scenarios = [scenario for feature in features for scenario in feature.scenarios]
    covered = {tag for scenario in scenarios for tag in scenario.tags}
    listed = [tag for waiver in waivers for tag in waiver.behaviours]
    for scenario in scenarios:
        for tag in sorted(scenario.tags - known):
            if _TAG.fullmatch(tag):
                yield f"{scenario.file}:{scenario.line}: @{tag} names no behaviour. Correct the tag."
    for tag in sorted(known - covered - set(listed)):
        yield f"@{tag} has no scenario. Write one and tag it, or list it in {NOT_COVERED} with a reason."
    for tag in sorted(set(listed) & covered):
        yield f"{NOT_COVERED}: {tag} has a scenario now. Remove it from the list."
    for tag in sorted(set(listed) - known):
        yield f"{NOT_COVERED}: {tag} names no behaviour. Remove it from the list."
    for tag in sorted({tag for tag in listed if listed.count(tag) > 1}):
        yield f"{NOT_COVERED}: {tag} is listed more than once. Keep one."
    for waiver in waivers:
        if not waiver.reason.strip():
            yield f"{NOT_COVERED}: An entry has no reason. Say what it waits for."


def page(root: Path) -> str:
    """The text of docs/behaviours.md.

    :raises UnreadableFeature: for a feature file that is not well-formed.
    """
    reasons = {tag: waiver.reason for waiver in read_waivers(root / NOT_COVERED) for tag in waiver.behaviours}
    return render(known_behaviours(root), read_features(root / "features"), reasons, root)


def check(root: Path) -> list[str]:
    """All faults of the repository at ``root``, the page's age included."""
    try:
        features = read_features(root / "features")
    except UnreadableFeature as error:
        return [str(error)]
    try:
        waivers = read_waivers(root / NOT_COVERED)
    except (msgspec.ValidationError, yaml.YAMLError) as error:
        return [f"{NOT_COVERED}: The list cannot be read: {error}. Write reasons, each with its behaviours."]
    found = list(faults(known_behaviours(root), features, waivers))
    written = root / PAGE
    if not written.exists() or written.read_text(encoding="utf-8") != page(root):
        found.append(f"{PAGE}: The page is older than the features. Run make schemas.")
    return found


def write(root: Path) -> None:
    """Write docs/behaviours.md."""
    (root / PAGE).write_text(page(root), encoding="utf-8")


@click.command(help="Hold the features to the behaviours, or write docs/behaviours.md.")
@click.argument("action", type=click.Choice(["check", "write"]))
def main(action: str) -> None:
    # Relative, so that a fault names its file as the repository does.
    root = Path()
    if action == "write":
        write(root)
        return
    if found := check(root):
        raise click.ClickException("\n".join(["Not every behaviour has its scenario.", *found]))
    click.echo(f"{len(known_behaviours(root))} behaviours: each has a scenario or stands in {NOT_COVERED}.")


if __name__ == "__main__":
    main()

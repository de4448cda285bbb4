"""``make acceptance``: the twelve scenarios by which the product is accepted, a line each.

A scenario carries two tags: ``@acceptance``, and ``@acceptance-<title>`` for the one of the titles here that it shows.
It runs through every door that it names, and its title has passed if all of them did.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from gateway.testkit.features import Scenario
from gateway.testkit.scenario_runs import NotRun, ScenarioRun, run

TAG = "acceptance"
ROOT = Path(__file__).resolve().parents[2]

TITLES: Mapping[str, str] = {
    "acceptance-approved_dispatch": "Approved dispatch",
    "acceptance-readiness_and_privacy": "Readiness and privacy",
    "acceptance-registry_and_provider_refusal": "Registry and provider refusal",
    "acceptance-context_and_output_bounds": "Context and output bounds",
    "acceptance-quota_before_transport": "Quota before transport",
    "acceptance-unknown_replay_without_retry": "Unknown replay without retry",
    "acceptance-original_bundle_across_releases": "Original bundle across release changes",
    "acceptance-revocation_on_saved_replay": "Current revocation on saved replay",
    "acceptance-input_conflict": "Input conflict",
    "acceptance-memory_arithmetic": "Memory arithmetic",
    "acceptance-final_write_failure": "Final-write failure",
    "acceptance-partial_revocation": "Partial revocation of several sources",
}

NOT_BUILT: Mapping[str, str] = {}
"""Titles whose feature the product does not have yet, and what they wait for. They count as not passed."""


def faults(scenarios: list[Scenario]) -> Iterator[str]:
    """Titles without their one scenario, and tags that do not go together; a sentence each."""
    for tag, title in TITLES.items():
        names = [scenario.name for scenario in scenarios if tag in scenario.tags]
        if tag in NOT_BUILT and names:
            yield f"{title} has a scenario, so it is built. Remove it from NOT_BUILT."
        if tag not in NOT_BUILT and len(names) != 1:
            yield f"{title} has {len(names)} scenarios tagged @{tag}. Tag exactly one."
    for scenario in scenarios:
        titles = scenario.tags & TITLES.keys()
        if len(titles) > 1 or bool(titles) != (TAG in scenario.tags):
            yield f"{scenario.file}:{scenario.line}: @{TAG} goes with exactly one of the tags of a title."


def lines(runs: list[ScenarioRun]) -> list[str]:
    """A line for each title, and why it failed under those that did."""
    told = []
    for tag, title in TITLES.items():
        if tag in NOT_BUILT:
            told.append(f"  {title:<40} not built yet: {NOT_BUILT[tag]}")
            continue
        own = [one for one in runs if tag in one.tags]
        doors = ", ".join(sorted({one.door for one in own}))
        seconds = sum(one.seconds for one in own)
        told.append(f"  {title:<40} {'passed' if passed(tag, runs) else 'FAILED'}  {seconds:6.2f} s  {doors}")
        told += [f"      {one.test}: {one.sentence}" for one in own if not one.passed]
    return told


def passed(tag: str, runs: list[ScenarioRun]) -> bool:
    """A title whose scenario did not run has not passed."""
    own = [one for one in runs if tag in one.tags]
    return bool(own) and all(one.passed for one in own)


@click.command(help="Run the scenarios by which the product is accepted.")
def main() -> None:
    try:
        runs = run(ROOT, TAG)
    except NotRun as error:
        raise click.ClickException(f"No scenario ran.\n{error}") from error
    for line in lines(runs):
        click.echo(line)
    built = [tag for tag in TITLES if tag not in NOT_BUILT]
    good = sum(passed(tag, runs) for tag in built)
    waiting = len(TITLES) - len(built)
    click.echo(f"{good} of {len(TITLES)} passed, {len(built) - good} failed, {waiting} not built yet.")
    sys.exit(good != len(built))


if __name__ == "__main__":
    main()

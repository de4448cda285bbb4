"""``gateway check``, ``gateway policy check`` and ``mutate``: every fault at once, with place, sentence and remedy."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from gateway.cli import terminal
from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot
from gateway.settings import Settings

FAULTS = 1


@click.command()
@click.option(
    "--at", "at", metavar="TIME", help="Judge expiry at this instant, such as 2026-12-01T00:00:00Z. Default: now."
)
@click.option("--json", "as_json", is_flag=True, help="Print the faults as a JSON array.")
@click.pass_obj
def check(settings: Settings, at: str | None, as_json: bool) -> None:
    """Check the registry: schemas, references, approvals, expiry, vocabularies."""
    from adapters import registry
    from adapters.tokens import Vocabularies
    from gateway.bootstrap.registry import load_vocabularies

    loaded = registry.load(settings.registry_folder, at_us=_instant_us(at), strict=True)
    if isinstance(loaded, registry.Loaded):
        faults = load_vocabularies(
            Vocabularies(settings.vocabularies_folder), loaded.snapshot, settings.registry_folder
        )
    else:
        faults = loaded
    faults += tuple(registry.stale_schemas(settings.registry_folder))
    _report(faults, as_json, "The registry has no faults.")


@click.group()
def policy() -> None:
    """Check the Rego policies, and explain what they decided."""


@policy.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print the faults as a JSON array.")
@click.pass_obj
def check_policy(settings: Settings, as_json: bool) -> None:
    """Check the Rego policies.

    Form, lint, schemas, documentation, tests and their coverage, and the golden decisions.
    """
    from adapters import policy as adapter

    faults = adapter.check_policies(settings.policies_folder, *_opa_and_registry(settings))
    _report(faults, as_json, "The policies have no faults.")


@policy.command("mutate")
@click.option("--only", metavar="NAME", default="", help="Make this one mutation.")
@click.option("--json", "as_json", is_flag=True, help="Print the faults as a JSON array.")
@click.pass_obj
def mutate_policy(settings: Settings, only: str, as_json: bool) -> None:
    """Loosen the rules on purpose, and see that the check notices.

    Makes each change that mutations.yaml lists in a copy of the policies.
    """
    from adapters import policy as adapter

    outcomes, faults = adapter.mutate(settings.policies_folder, *_opa_and_registry(settings), only)
    if not as_json:
        for outcome in outcomes:
            click.echo(terminal.visible(f"{outcome.name}: {outcome.caught_by or 'not caught'}"))
    if only and not outcomes and not faults:
        raise click.BadParameter("No mutation has that name.", param_hint="--only")
    _report(faults, as_json, f"{len(outcomes)} mutation{'s' if len(outcomes) != 1 else ''}, each caught.")


def _opa_and_registry(settings: Settings) -> tuple[Path, Snapshot]:
    """What the rules are tried with.

    :raises StartRefused: there is no OPA, or the registry has faults.
    """
    from adapters import policy as adapter
    from adapters.clock import SystemClock
    from gateway.bootstrap.registry import load_registry

    if (binary := adapter.find()) is None:
        raise StartRefused("There is no accepted OPA. Run: gateway opa install")
    return binary, load_registry(settings, SystemClock())


def _instant_us(at: str | None) -> int:
    if at is None:
        return int(datetime.now(UTC).timestamp() * 1_000_000)
    try:
        instant = datetime.fromisoformat(at)
    except ValueError:
        raise click.BadParameter("An instant looks like 2026-12-01T00:00:00Z.", param_hint="--at") from None
    if instant.tzinfo is None:
        raise click.BadParameter("The instant needs its time zone, such as Z.", param_hint="--at")
    return int(instant.timestamp() * 1_000_000)


def _report(faults: Sequence[Fault], as_json: bool, none: str) -> None:
    if as_json:
        terminal.as_json(list(faults))
    elif faults:
        for fault in faults:
            click.echo(terminal.visible(str(fault)))
        click.echo(f"{len(faults)} fault{'s' if len(faults) != 1 else ''}.", err=True)
    else:
        click.echo(none)
    if faults:
        sys.exit(FAULTS)

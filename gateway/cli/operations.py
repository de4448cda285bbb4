"""``gateway operations``: what became of generations, and closing those whose outcome is unknown."""

from typing import Any
from urllib.parse import quote

import click

from gateway.cli import remote, tables, terminal
from gateway.domain.operation import State
from gateway.settings import Settings

as_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
operation_id = click.argument("operation_id", metavar="OPERATION")


@click.group()
def operations() -> None:
    """Look at operations, and close those whose outcome is unknown."""


@operations.command("list")
@click.option("--state", type=click.Choice([state.value for state in State]), help="State of the last attempt.")
@click.option("--tenant", help="Of this tenant only.")
@click.option("--profile", help="Whose last attempt went to this profile.")
@click.option("--before", metavar="OPERATION", help="Older than this one: the next page.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
@as_json
@click.pass_obj
def list_(
    settings: Settings,
    *,
    state: str | None,
    tenant: str | None,
    profile: str | None,
    before: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List operations, newest first."""
    query = {"state": state, "tenant": tenant, "profile": profile, "before": before, "limit": limit}
    found = remote.call(settings, "GET", "/admin/operations", query=query)
    if as_json:
        terminal.as_json(found)
        return
    tables.operations(found["data"])
    if found["has_more"]:
        click.echo(f"There are more: --before {found['data'][-1]['id']}", err=True)


@operations.command()
@operation_id
@click.option("--timeline", is_flag=True, help="Show all that happened to it.")
@as_json
@click.pass_obj
def show(settings: Settings, operation_id: str, timeline: bool, as_json: bool) -> None:
    """Show one operation."""
    path = f"/v1/operations/{quote(operation_id, safe='')}" + ("/timeline" if timeline else "")
    found = remote.call(settings, "GET", path)
    if as_json:
        terminal.as_json(found)
    elif timeline:
        tables.timeline(found["data"])
    else:
        tables.operation(found)


@operations.command()
@operation_id
@click.option("--evidence", required=True, help="What was found at the provider, and where.")
@click.option(
    "--found",
    required=True,
    type=click.Choice(["no-effect", "charged"]),
    help="no-effect: the provider never executed it. charged: it did, and the answer is lost.",
)
@click.option("--used-input", type=click.IntRange(min=0), help="Input tokens that the evidence proves; with charged.")
@click.option("--used-output", type=click.IntRange(min=0), help="Output tokens that the evidence proves; with charged.")
@as_json
@click.pass_obj
def reconcile(
    settings: Settings,
    *,
    operation_id: str,
    evidence: str,
    found: str,
    used_input: int | None,
    used_output: int | None,
    as_json: bool,
) -> None:
    """Close an unknown outcome on evidence."""
    if (found == "charged") != (used_input is not None and used_output is not None):
        raise click.UsageError("--found charged needs --used-input and --used-output; no-effect takes neither.")
    body: dict[str, Any] = {"evidence": evidence, "found": found.replace("-", "_")}
    if found == "charged":
        body["used"] = {"input": used_input, "output": used_output}
    _act(settings, operation_id, "reconcile", body, as_json)


@operations.command("write-off")
@operation_id
@click.option("--reason", required=True, help="Why nobody will ever know.")
@as_json
@click.pass_obj
def write_off(settings: Settings, operation_id: str, reason: str, as_json: bool) -> None:
    """Close an unknown outcome without evidence: all that was reserved is booked as used."""
    _act(settings, operation_id, "write-off", {"reason": reason}, as_json)


@operations.command("free-slot")
@operation_id
@click.option("--reason", required=True, help="How it is known that the engine generates no more.")
@as_json
@click.pass_obj
def free_slot(settings: Settings, operation_id: str, reason: str, as_json: bool) -> None:
    """Free the slot of an unknown outcome. Its tokens stay reserved."""
    _act(settings, operation_id, "free-slot", {"reason": reason}, as_json)


def _act(settings: Settings, operation_id: str, act: str, body: dict[str, Any], as_json: bool) -> None:
    path = f"/admin/operations/{quote(operation_id, safe='')}/{act}"
    done = remote.call(settings, "POST", path, body=body)
    if as_json:
        terminal.as_json(done)
    else:
        tables.operation(done)

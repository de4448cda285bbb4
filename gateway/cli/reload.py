"""``gateway reload``: put registry and policies in force as they lie in the files now."""

import sys

import click
import msgspec

from gateway.cli import remote, terminal
from gateway.domain.fault import Fault
from gateway.settings import Settings

REFUSED = 1


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the answer, or the faults, as JSON.")
@click.pass_obj
def reload(settings: Settings, as_json: bool) -> None:
    """Put registry and policies in force as they are now, all or nothing.

    With a fault anywhere what serves goes on serving, and the exit code is 1.
    """
    try:
        taken = remote.call(settings, "POST", "/admin/reload", body={})
    except remote.Declined as declined:
        if "faults" not in declined.problem:
            raise
        _report(declined.problem["faults"], as_json)
        click.echo(terminal.visible_lines(str(declined)), err=True)
        sys.exit(REFUSED)
    if as_json:
        terminal.as_json(taken)
        return
    for warning in msgspec.convert(taken["warnings"], tuple[Fault, ...]):
        click.echo(terminal.visible(f"warning: {warning}"))
    earlier, now = taken["earlier"], taken["now"]
    changed = [f"{name.replace(chr(95), chr(32))} {now[name]}" for name in now if now[name] != earlier[name]]
    click.echo("In force: " + ", ".join(changed) if changed else "In force; nothing has changed.")


def _report(faults: object, as_json: bool) -> None:
    if as_json:
        terminal.as_json(faults)
        return
    for fault in msgspec.convert(faults, tuple[Fault, ...]):
        click.echo(terminal.visible(str(fault)))

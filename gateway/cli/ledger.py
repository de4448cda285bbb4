"""``gateway ledger``: do the accounts add up, and what is held by nobody."""

import sys

import click

from gateway.cli import remote, tables, terminal
from gateway.settings import Settings

DIFFERENCES = 1


@click.group()
def ledger() -> None:
    """Check the ledger."""


@ledger.command()
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
@click.pass_obj
def verify(settings: Settings, as_json: bool) -> None:
    """Compare all counters with the holds, and check the invariants; exit code 1 if anything differs."""
    differences = remote.call(settings, "POST", "/admin/ledger/verify", body={})["differences"]
    if as_json:
        terminal.as_json(differences)
    elif differences:
        for difference in differences:
            click.echo(terminal.visible(difference))
    else:
        click.echo("The ledger adds up.")
    if differences:
        sys.exit(DIFFERENCES)


@ledger.command()
@click.option("--json", "as_json", is_flag=True, help="Print the holds as JSON.")
@click.pass_obj
def stranded(settings: Settings, as_json: bool) -> None:
    """List the holds that only evidence or an operator can end."""
    holds = remote.call(settings, "GET", "/admin/ledger/stranded")["data"]
    if as_json:
        terminal.as_json(holds)
    else:
        tables.stranded(holds)

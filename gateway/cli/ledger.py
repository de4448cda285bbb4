"""``gateway ledger``: do the accounts add up, what is held by nobody, what is left and what was spent."""

import sys

import click

from gateway.cli import remote, tables, terminal
from gateway.settings import Settings

DIFFERENCES = 1


@click.group()
def ledger() -> None:
    """Check the ledger, and look at budgets."""


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


@ledger.command()
@click.option("--tenant", help="Of this tenant.")
@click.option("--profile", help="Of this profile.")
@click.option("--quota-scope", help="Of this quota scope.")
@click.option("--json", "as_json", is_flag=True, help="Print the scopes as JSON.")
@click.pass_obj
def usage(settings: Settings, tenant: str | None, profile: str | None, quota_scope: str | None, as_json: bool) -> None:
    """Show what each scope has used in the windows of now, and its limits."""
    wanted = {"tenant": tenant, "profile": profile, "quota_scope": quota_scope}
    found = remote.call(settings, "GET", "/admin/ledger/usage", query=wanted)
    if as_json:
        terminal.as_json(found)
    else:
        tables.usage(found["data"], found["currency"])


@ledger.command()
@click.option(
    "--since", required=True, help="Of operations first asked for then or later, such as 2026-11-01T00:00:00Z."
)
@click.option("--profile", help="That went to this profile.")
@click.option("--tenant", help="Of this tenant.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.pass_obj
def outcomes(settings: Settings, since: str, profile: str | None, tenant: str | None, as_json: bool) -> None:
    """Show what attempts came to, by profile, with the tokens and the cost that count."""
    wanted = {"since": since, "profile": profile, "tenant": tenant}
    found = remote.call(settings, "GET", "/admin/ledger/outcomes", query=wanted)
    if as_json:
        terminal.as_json(found)
    else:
        tables.outcomes(found["data"], found["currency"])

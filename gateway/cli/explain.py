"""``gateway policy explain``: what a decision failed on, with the file and line of each rule."""

from urllib.parse import quote

import click

from gateway.cli import remote, tables, terminal
from gateway.settings import Settings


@click.command()
@click.argument("decision_id", metavar="DECISION")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_obj
def explain(settings: Settings, decision_id: str, as_json: bool) -> None:
    """Explain a decision.

    A refusal names its decision, and so does the timeline of an operation.
    """
    found = remote.call(settings, "GET", f"/admin/decisions/{quote(decision_id, safe='')}")
    if as_json:
        terminal.as_json(found)
    else:
        tables.decision(found)

"""``gateway keys``: credentials of service accounts."""

import click
import msgspec

from gateway.cli import remote
from gateway.settings import Settings


@click.group()
def keys() -> None:
    """Credentials of service accounts."""


@keys.command()
@click.option("--tenant", required=True, help="A tenant of the registry.")
@click.option("--principal", required=True, help="A service account of that tenant.")
@click.option("--label", default="", help="What this key is for, to tell several apart.")
@click.option("--json", "as_json", is_flag=True, help="Print everything about the key as JSON.")
@click.pass_obj
def create(settings: Settings, tenant: str, principal: str, label: str, as_json: bool) -> None:
    """Create a key and print its token, which is shown only this once."""
    body = {"tenant": tenant, "principal": principal, "label": label}
    created = remote.call(settings, "POST", "/admin/keys", body=body)
    click.echo(msgspec.json.encode(created).decode() if as_json else created["token"])

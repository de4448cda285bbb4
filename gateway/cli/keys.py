"""``gateway keys``: credentials of service accounts."""

from urllib.parse import quote

import click

from gateway.cli import remote, tables, terminal
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
    created = remote.call(settings, "POST", "/admin/keys", body=body, needs_registry=True)
    if as_json:
        terminal.as_json(created)
    else:
        click.echo(created["token"])


@keys.command("list")
@click.option("--tenant", help="Of this tenant only.")
@click.option("--principal", help="Of service accounts of this id only.")
@click.option("--active/--revoked", default=None, help="Only those that count, or only those that do not.")
@click.option("--before", metavar="KEY", help="Older than this one: the next page.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_obj
def list_(
    settings: Settings,
    *,
    tenant: str | None,
    principal: str | None,
    active: bool | None,
    before: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List keys, newest first. No token is shown."""
    query = {"tenant": tenant, "principal": principal, "active": active, "before": before, "limit": limit}
    found = remote.call(settings, "GET", "/admin/keys", query=query)
    if as_json:
        terminal.as_json(found)
        return
    tables.keys(found["data"])
    if found["has_more"]:
        click.echo(f"There are more: --before {found['data'][-1]['id']}", err=True)


@keys.command()
@click.argument("key_id", metavar="KEY")
@click.option("--json", "as_json", is_flag=True, help="Print the key as JSON.")
@click.pass_obj
def revoke(settings: Settings, key_id: str, as_json: bool) -> None:
    """Revoke a key: from now on it counts for nothing."""
    revoked = remote.call(settings, "POST", f"/admin/keys/{quote(key_id, safe='')}/revoke", body={})
    if as_json:
        terminal.as_json(revoked)
    else:
        tables.keys([revoked])

"""``gateway keys``: credentials of service accounts."""

import asyncio

import click
import msgspec

from gateway.cli import remote
from gateway.domain.errors import DirectoryInUse, StartRefused
from gateway.domain.refusal import Refusal
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
    try:
        created = asyncio.run(_create_offline(settings, tenant, principal, label))
    except DirectoryInUse:
        body = {"tenant": tenant, "principal": principal, "label": label}
        created = remote.post(settings, "/admin/keys", body)
    click.echo(msgspec.json.encode(created).decode() if as_json else created["token"])


async def _create_offline(settings: Settings, tenant: str, principal: str, label: str) -> dict[str, str]:
    """No server runs: take the store's lock, and act as the same operator whose file one must be able to read."""
    from gateway.bootstrap import open_administration

    async with open_administration(settings) as administration:
        made = await administration.credentials.create(
            administration.caller, administration.snapshot, tenant=tenant, principal=principal, label=label
        )
        if isinstance(made, Refusal):
            raise StartRefused(f"{made.meaning.sentence} {made.meaning.remedy}")
        key = made.key
        return {
            "id": key.id,
            "tenant": key.tenant,
            "principal": key.principal,
            "label": key.label,
            "token": made.token,
        }

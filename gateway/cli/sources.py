"""``gateway sources``: the directory of sources. Who may read what, at which revision."""

from collections.abc import Mapping
from typing import Any

import click

from gateway.cli import remote, tables, terminal
from gateway.settings import Settings

as_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
source_id = click.argument("source_id", metavar="SOURCE")


@click.group()
def sources() -> None:
    """Open sources to groups, close them, and take revisions back."""


@sources.command()
@source_id
@click.option("--tenant", required=True, help="The tenant that the source belongs to, for good.")
@click.option("--group", "groups", multiple=True, help="A group that may read it; repeat it for several.")
@click.option("--revision", required=True, help="The revision that is in force.")
@click.option("--privacy-class", required=True, help="A class of registry/privacy.yaml.")
@click.option("--released", metavar="TIME", help="End of an embargo, such as 2027-01-31T00:00:00Z. Default: none.")
@click.option("--as-of", metavar="TIME", help="When its owner confirmed all of this. Default: now.")
@as_json
@click.pass_obj
def grant(
    settings: Settings,
    *,
    source_id: str,
    tenant: str,
    groups: tuple[str, ...],
    revision: str,
    privacy_class: str,
    released: str | None,
    as_of: str | None,
    as_json: bool,
) -> None:
    """Register a source, or confirm it and open it to more groups.

    Groups add up. All the rest becomes what is given here: without --released an earlier embargo is lifted.
    """
    body: dict[str, Any] = {
        "id": source_id,
        "tenant": tenant,
        "groups": groups,
        "revision": revision,
        "privacy_class": privacy_class,
    }
    times = {"released": released, "as_of": as_of}
    body |= {name: time for name, time in times.items() if time is not None}
    _show(remote.call(settings, "POST", "/admin/sources/grant", body=body, needs_registry=True), as_json)


@sources.command()
@source_id
@click.option("--group", "groups", multiple=True, help="Close it to this group; repeat it for several. Default: all.")
@as_json
@click.pass_obj
def revoke(settings: Settings, source_id: str, groups: tuple[str, ...], as_json: bool) -> None:
    """Close a source to groups."""
    body = {"id": source_id, "groups": groups}
    _show(remote.call(settings, "POST", "/admin/sources/revoke", body=body), as_json)


@sources.command()
@source_id
@as_json
@click.pass_obj
def withdraw(settings: Settings, source_id: str, as_json: bool) -> None:
    """Take the revision of a source back, for good and for everybody."""
    _show(remote.call(settings, "POST", "/admin/sources/withdraw", body={"id": source_id}), as_json)


@sources.command("list")
@click.option("--tenant", help="Of this tenant only.")
@click.option("--group", help="Open to this group only.")
@click.option("--withdrawn/--current", default=None, help="Only those that were withdrawn, or only the others.")
@click.option("--after", metavar="SOURCE", help="After this one: the next page.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
@as_json
@click.pass_obj
def list_(
    settings: Settings,
    *,
    tenant: str | None,
    group: str | None,
    withdrawn: bool | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List sources by id."""
    query = {"tenant": tenant, "group": group, "withdrawn": withdrawn, "after": after, "limit": limit}
    found = remote.call(settings, "GET", "/admin/sources", query=query)
    if as_json:
        terminal.as_json(found)
        return
    tables.sources(found["data"])
    if found["has_more"]:
        click.echo(f"There are more: --after {terminal.argument(found['data'][-1]['id'])}", err=True)


def _show(changed: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        terminal.as_json(changed)
    else:
        tables.sources([changed])

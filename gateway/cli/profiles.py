"""``gateway profiles``: which profiles serve, and taking one out of service."""

from urllib.parse import quote

import click

from gateway.cli import profile_tables, remote, terminal
from gateway.settings import Settings

as_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
profile = click.argument("profile", metavar="PROFILE")
reason = click.option("--reason", required=True, help="Why, for whoever looks later.")


@click.group()
def profiles() -> None:
    """See which profiles serve, drain them, and end quarantines."""


@profiles.command("list")
@click.option("--facts", "with_facts", is_flag=True, help="Show what is known of each, and who says so.")
@as_json
@click.pass_obj
def list_(settings: Settings, *, with_facts: bool, as_json: bool) -> None:
    """List the profiles of the registry."""
    found = remote.call(settings, "GET", "/admin/profiles", needs_registry=True)
    if as_json:
        terminal.as_json(found)
        return
    profile_tables.profiles(found["data"])
    if with_facts:
        for row in found["data"]:
            profile_tables.facts(row)


@profiles.command()
@profile
@reason
@as_json
@click.pass_obj
def drain(settings: Settings, *, profile: str, reason: str, as_json: bool) -> None:
    """Give a profile no new work. Calls go on to their end, and nothing is erased."""
    _act(settings, profile, "drain", reason, as_json=as_json)


@profiles.command()
@profile
@reason
@as_json
@click.pass_obj
def resume(settings: Settings, *, profile: str, reason: str, as_json: bool) -> None:
    """Give a drained profile work again."""
    _act(settings, profile, "resume", reason, as_json=as_json)


@profiles.command()
@profile
@reason
@as_json
@click.pass_obj
def release(settings: Settings, *, profile: str, reason: str, as_json: bool) -> None:
    """End a quarantine. The engine is looked at anew before it serves."""
    _act(settings, profile, "release", reason, as_json=as_json)


def _act(settings: Settings, profile: str, act: str, reason: str, *, as_json: bool) -> None:
    path = f"/admin/profiles/{quote(profile, safe='')}/{act}"
    done = remote.call(settings, "POST", path, body={"reason": reason}, needs_registry=True)
    if as_json:
        terminal.as_json(done)
    else:
        profile_tables.profiles([done])

"""``gateway opa``: the accepted version of OPA on this machine."""

import click


@click.group()
def opa() -> None:
    """Find or build OPA."""


@opa.command()
def install() -> None:
    """Find OPA, or build it once.

    Building from source takes a minute or two.
    """
    from adapters import policy

    path = policy.install(lambda line: click.echo(line, err=True))
    click.echo(path)

"""``gateway serve``."""

import sys

import click

from gateway.settings import Settings


@click.command()
@click.pass_obj
def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then drain.

    Settings come from GATEWAY_ variables; docs/settings.md lists them.
    """
    import uvloop

    from adapters.telemetry import set_up_logs
    from gateway.server import serve as run

    set_up_logs(settings.log_level)
    sys.exit(uvloop.run(run(settings)))

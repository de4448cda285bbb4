"""``gateway``: one command per intent. Heavy modules are imported by the command that needs them."""

import errno
import os
import sys
from pathlib import Path

import click

from gateway.cli import checks, explain, keys, ledger, opa, operations, plan, profiles, reload, serving, sources
from gateway.cli.terminal import visible_lines
from gateway.domain.errors import StartRefused
from gateway.settings import SettingsFault, from_environment

REFUSED = 1


class Commands(click.Group):
    """The commands; whatever they are given can be sent and stored."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for position, argument in enumerate(args, 1):
            try:
                argument.encode()
            except UnicodeEncodeError:
                # Python hands bytes that are not UTF-8 over as lone surrogates.
                raise click.UsageError(f"Argument {position} is not UTF-8.", ctx) from None
        return super().parse_args(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="policy-gateway", prog_name="gateway")
@click.pass_context
def gateway(context: click.Context) -> None:
    """A policy-as-code gateway for language models."""
    context.obj = from_environment(os.environ)


gateway.add_command(serving.serve)
gateway.add_command(checks.check)
gateway.add_command(checks.policy)
gateway.add_command(reload.reload)
checks.policy.add_command(explain.explain)
gateway.add_command(keys.keys)
gateway.add_command(sources.sources)
gateway.add_command(operations.operations)
gateway.add_command(ledger.ledger)
gateway.add_command(profiles.profiles)
gateway.add_command(plan.plan)
gateway.add_command(opa.opa)


def main() -> None:
    """Run the command; what must not go on ends with its sentence and exit code 1."""
    try:
        gateway()
    except (StartRefused, SettingsFault) as refused:
        click.echo(visible_lines(str(refused)), err=True)
        sys.exit(REFUSED)
    except OSError as error:
        # Of files that have a name their command speaks itself.
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EIO):
            raise
        click.echo(f"The output could not be written: {error.strerror}. Send it somewhere else.", err=True)
        # Python would try once more at its end, and tell of that in its own way.
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - until the process ends
        sys.exit(REFUSED)

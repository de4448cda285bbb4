"""``python -m gateway.testkit.provider``: the scripted provider in a process of its own.

It prints one line of JSON with its ports and ends at the end of its standard input.
"""

import asyncio
import json
import sys

import click
import uvloop

from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.control import Control
from gateway.testkit.provider.server import EngineFace, Provider


@click.command()
@click.option("--port", default=0, help="Port of the provider; 0: any.")
@click.option("--control", default=0, help="Port of the control; 0: any.")
@click.option("--alias", default="scripted@1", help="Model alias that it reports.")
@click.option("--model-path", default="/models/scripted.gguf", help="Model file that it reports.")
@click.option("--delay-ms", default=0, help="Time that an answer takes.")
@click.option("--count-only", is_flag=True, help="Keep no requests, only count them.")
def main(*, port: int, control: int, alias: str, model_path: str, delay_ms: int, count_only: bool) -> None:
    """Answer like an engine, or misbehave as told over the control port."""
    provider = Provider(
        port=port,
        default=Behaviour(delay_ms=delay_ms),
        face=EngineFace(alias=alias, model_path=model_path),
        keep=not count_only,
    )
    uvloop.run(_serve(provider, control))


async def _serve(provider: Provider, control_port: int) -> None:
    async with provider:
        control = await Control(provider).listen(control_port)
        sys.stdout.write(json.dumps({"port": provider.port, "control": control}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


main()

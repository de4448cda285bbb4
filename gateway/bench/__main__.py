"""``python -m gateway.bench``: measure, and report as Markdown and JSON."""

import sys
from pathlib import Path

import click
import msgspec

from gateway.bench.children import BenchFault
from gateway.bench.measure import measure
from gateway.bench.plan import FULL, QUICK
from gateway.bench.report import markdown

NOT_MEASURED = 2


@click.command()
@click.option("--quick", is_flag=True, help="Under a minute instead of under 6; rougher figures.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Also write everything as JSON.")
@click.option("--markdown", "markdown_file", type=click.Path(path_type=Path), help="Also write the report to a file.")
def main(*, quick: bool, json_file: Path | None, markdown_file: Path | None) -> None:
    """Measure the gateway's own cost beside a bare pass-through. A figure over its bound is no failure."""
    try:
        report = measure(QUICK if quick else FULL, lambda line: click.echo(f"bench: {line}", err=True))
    except BenchFault as fault:
        click.echo(str(fault), err=True)
        sys.exit(NOT_MEASURED)
    text = markdown(report)
    click.echo(text)
    if markdown_file is not None:
        markdown_file.write_text(text, encoding="utf-8")
    if json_file is not None:
        json_file.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")


if __name__ == "__main__":
    main()

"""``make schemas``: writes every generated file of the repository, in the working folder.

A test runs it on a copy and finds what is out of date; ``gateway check``, ``gateway policy check`` and the
behaviours check find theirs earlier.
"""

from pathlib import Path

import click

from adapters import policy, registry
from adapters.policy import codes
from adapters.policy import schemas as policy_schemas
from gateway.api import openapi
from gateway.testkit import api_page, behaviours

OPENAPI = Path("docs/openapi.json")


def main() -> None:
    """Write them all."""
    if (opa := policy.find()) is None:
        raise SystemExit("There is no accepted OPA. Run: gateway opa install")
    registry.write_schemas(Path("registry"))
    policy_schemas.write(Path("policies"))
    codes.write(Path("policies"), opa)
    api_page.write(Path())
    OPENAPI.write_bytes(openapi.rendered())
    behaviours.write(Path())
    click.echo(
        "Written: registry/schemas, policies/schemas, "
        f"policies/{codes.FILE}, {codes.PAGE}, {api_page.PAGE}, {OPENAPI}, {behaviours.PAGE}."
    )


if __name__ == "__main__":
    main()

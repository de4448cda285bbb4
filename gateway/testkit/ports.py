"""Ports with some of them replaced."""

from typing import Any

from gateway.service.assembly import Ports


def with_ports(ports: Ports, **changes: Any) -> Ports:
    """The same ports, except those that are named."""
    return Ports(**({name: getattr(ports, name) for name in Ports.__struct_fields__} | changes))

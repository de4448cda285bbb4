"""The one place that knows every adapter."""

from gateway.bootstrap.administration import Administration, open_administration
from gateway.bootstrap.data_folder import operator_token, read_address, write_address
from gateway.bootstrap.registry import load_registry
from gateway.bootstrap.serving import Decorate, Gateway, Wrap, open_gateway

__all__ = [
    "Administration",
    "Decorate",
    "Gateway",
    "Wrap",
    "load_registry",
    "open_administration",
    "open_gateway",
    "operator_token",
    "read_address",
    "write_address",
]

"""Secrets of providers. The front door: ``Vault`` reads what credentials of the registry name."""

from adapters.secrets.vault import Vault

__all__ = ["Vault"]

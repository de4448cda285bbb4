"""The ledger on SQLite: every durable change of an operation, through one writer with group commit."""

from adapters.store.connection import Connection, Wrap, unwrapped
from adapters.store.database import exists
from adapters.store.store import Store, open_store

__all__ = ["Connection", "Store", "Wrap", "exists", "open_store", "unwrapped"]

"""The registry as files: strict YAML, generated JSON Schemas, cross checks, one frozen snapshot.

The path of a registry: raw_text and yaml_text read a file, shape holds it to its kind's schema, draft gathers the
files, architectures reads models' config.json; references, classes, coherence, capacity, credentials, approvals, dates
and kept_for check them against each other, loader freezes the snapshot.
"""

from adapters.registry.loader import Loaded, bundle_digest, load, profile_digest, profile_fault
from adapters.registry.schemas import stale_schemas, write_schemas

__all__ = ["Loaded", "bundle_digest", "load", "profile_digest", "profile_fault", "stale_schemas", "write_schemas"]

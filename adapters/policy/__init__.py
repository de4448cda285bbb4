"""Policy by OPA. The front door: ``start`` a revision, ``find`` or ``install`` OPA, ``check_policies``."""

from adapters.policy.binary import ACCEPTED, find, install
from adapters.policy.bundle import rules_revision
from adapters.policy.check import check_policies
from adapters.policy.mutations import mutate
from adapters.policy.opa import OpaPolicy, start

__all__ = ["ACCEPTED", "OpaPolicy", "check_policies", "find", "install", "mutate", "rules_revision", "start"]

"""What rules may call: everything that is a pure function of the question and the registry, nothing else."""

import functools
from pathlib import Path

import msgspec

from adapters.policy.command import run

_FORBIDDEN = frozenset(
    {
        "bits.lsh",
        "http.send",
        "internal.print",
        "io.jwt.decode_verify",
        "json.match_schema",
        "json.verify_schema",
        "numbers.range",
        "numbers.range_step",
        "opa.runtime",
        "print",
        "providers.aws.sign_req",
        "rand.intn",
        "time.now_ns",
        "trace",
        "uuid.rfc4122",
    }
)


@functools.cache
def capabilities(opa: Path) -> bytes:
    """The capabilities file for ``opa check``.

    Left out are the network, chance, the clock, the environment, prints, and what
    fills the memory in one call. Whatever a later OPA marks as nondeterministic is left out without being named here.
    """
    known = msgspec.json.decode(run(opa, "capabilities", "--current").out)
    known["builtins"] = [builtin for builtin in known["builtins"] if _pure(builtin["name"], builtin)]
    known["allow_net"] = []
    return msgspec.json.encode(known)


@functools.cache
def builtins(opa: Path) -> frozenset[str]:
    """What OPA's functions and operators are called, up to the first dot: whoever takes such a name replaces one."""
    known = msgspec.json.decode(run(opa, "capabilities", "--current").out)
    return frozenset(builtin["name"].partition(".")[0] for builtin in known["builtins"])


def _pure(name: str, builtin: dict[str, object]) -> bool:
    return name not in _FORBIDDEN and not name.startswith("net.") and not builtin.get("nondeterministic")

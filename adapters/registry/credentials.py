"""Does a credential bind its secret to its hosts and tenants?"""

from collections.abc import Iterator

from adapters.registry import hosts
from adapters.registry.draft import Draft
from gateway.domain.fault import Fault


def credentials(draft: Draft) -> Iterator[Fault]:
    """Faults of secrets that two credentials name, and of hosts that no endpoint could have."""
    first: dict[str, str] = {}
    for entry in draft.credentials.values():
        earlier = first.setdefault(entry.value.secret, entry.document.file)
        if earlier != entry.document.file:
            sentence = "Another credential names the same secret."
            remedy = f"Give each a secret of its own, or keep one: its hosts and tenants bind it. See {earlier}."
            yield entry.fault(("secret",), sentence, remedy)
        for index, host in enumerate(entry.value.hosts):
            found = hosts.authority(f"https://{host}/")
            if found is None or hosts.place(found[1]) == "forbidden":
                remedy = "Write a name or a whole IP address, with a port from 1 to 65535 or none."
                yield entry.fault(("hosts", index), "This is no host that an endpoint may have.", remedy)

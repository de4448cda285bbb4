package gateway.more

# Written into a package below this one, which may be a check of its own.
released.pass contains id if some id, _ in data.registry.profiles # BAD

kinds.hosted := 1 # BAD

kinds["self_hosted"] := 2 # BAD

by_tenant[tenant][alias] := 1 if some tenant, alias in data.registry.releases # BAD

by_id[id] := 1 if some id, _ in data.registry.profiles

package gateway.route.privacy

# A class that is not ranked is left out, and the highest of the rest is too low.
pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	max([rank | rank := data.registry.ranks[input.sources[_].privacy_class]]) == 2 # BAD
}

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	ranks := {rank | rank := data.registry.ranks[input.sources[_].privacy_class]}
	max(array.concat([0], [rank | some rank in ranks])) == 2 # BAD
	max(ranks | {0}) == 2 # BAD
	min(_ranks) == 0 # BAD
	min(_all(0)) == 0 # BAD
	max([data.registry.ranks[input.privacy_class], data.registry.ranks[data.registry.tenants[input.tenant].privacy_class]]) == 2
}

_ranks contains rank if rank := data.registry.ranks[input.sources[_].privacy_class]

_all(least) := [rank | some rank in data.registry.ranks; rank == least]

package gateway.route.released

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	is_number(input.time_s)
	data.registry.bundles[input.bundle].expires_s > input.time_s # BAD
}

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	data.registry.bundles[input.bundle].expires_s > "0" # BAD
	count(data.registry.releases) > 0
	age_s := input.time_s - 5
	age_s >= 0
}

# Pinned is another element than the one that is compared.
pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	is_number(data.registry.profiles[id].approvals[_].until_s)
	data.registry.profiles[id].approvals[_].until_s > 5 # BAD
}

# Pinned in another body.
pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	{until | until := data.registry.profiles[id].approvals[_].until_s; is_number(input.time_s)} != set()
	some until in {until | until := data.registry.profiles[id].approvals[_].until_s}
	until >= input.time_s # BAD
}

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	later := data.registry.bundles[input.bundle].expires_s <= 5 # BAD
	later == false
}

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	expires := data.registry.bundles[input.bundle].expires_s
	is_number(expires)
	data.registry.bundles[input.bundle].expires_s > 5
	_after(expires, 5)
}

_after(one, other) if one > other # BAD

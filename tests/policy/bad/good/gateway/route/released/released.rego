package gateway.route.released

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	data.registry.releases[input.alias] == input.bundle
	needed := input.time_s
	is_number(needed)
	is_number(data.registry.bundles[input.bundle].expires_s)
	data.registry.bundles[input.bundle].expires_s > needed
}

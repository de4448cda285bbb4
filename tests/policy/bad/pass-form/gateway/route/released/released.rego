package gateway.route.released

pass contains "smollm2-135m" # BAD

pass contains "smollm2-135m" if data.registry.releases[input.alias] == input.bundle # BAD

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
}

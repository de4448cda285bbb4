package gateway.route.released

pass contains id if {
	some id in data.registry.bundles[input.bundle].profiles
	input.time_s != "0" # BAD
	data.registry.tenants[input.tenant].active != "false" # BAD
	null != data.registry.releases[input.alias] # BAD
	input.alias != 7 # BAD
	input.alias != "code"
}

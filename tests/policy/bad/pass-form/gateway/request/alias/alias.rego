package gateway.request.alias

# An empty set is truthy.
pass contains alias if { # BAD
	some alias in data.registry.tenants[input.tenant].aliases
	alias == input.alias
}

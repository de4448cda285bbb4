package gateway.request.alias

import data.gateway.route.released

pass if {
	input.alias in data.registry.tenants[input.tenant].aliases
	count(released.pass) > 0 # BAD
}

package gateway.checks

import data.gateway
import data.gateway.source as sources

required := {
	"request": {"alias"},
	"source": {"current"},
	"route": {"released"},
}

# Truthy where the check was written as a set.
request := required.request - {name | some name in required.request; gateway.request[name].pass} # BAD

# Says nothing where the check is missing.
source[i] contains name if {
	some i, _ in input.sources
	some name in required.source
	sources[name].pass[i] != i # BAD
}

# Compared with something else than the profile.
route[id] := required.route - {name | some name in required.route; gateway.route[name].pass[id] == name} if { # BAD
	some id in data.registry.bundles[input.bundle].profiles
}

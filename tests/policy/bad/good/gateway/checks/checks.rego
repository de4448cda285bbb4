package gateway.checks

import data.gateway

required := {
	"request": {"alias"},
	"source": {"current"},
	"route": {"released"},
}

request := required.request - {name | some name in required.request; gateway.request[name].pass == true}

source[i] := required.source - {name | some name in required.source; gateway.source[name].pass[i] == i} if {
	some i, _ in input.sources
}

route[id] := required.route - {name | some name in required.route; gateway.route[name].pass[id] == id} if {
	some id in data.registry.bundles[input.bundle].profiles
}

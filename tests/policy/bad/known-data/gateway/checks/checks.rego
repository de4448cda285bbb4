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

shown[question] := {"request": request, "source": source} if some question in {"access"}

passed contains question if {
	some question in {"access"}
	request == set()
	is_array(input.sources)
	count({i | some i, failed in source; failed == set()}) == count(input.sources)
}

# Of a variable package a set difference reads `pass`, and nothing else is read.
is_tested if {
	some name in {"current_test"}
	count(gateway.source[name]._facts) > 0 # BAD
}

package gateway.checks

required := {
	"request": {"alias"},
	"source": {"current"},
	"route": {"released"},
}

request := {name |
	some name in required.request
	not name in _passed # BAD
}

_passed := {"alias"}

source[i] := set() if some i, _ in input.sources

route[id] := set() if some id in data.registry.bundles[input.bundle].profiles

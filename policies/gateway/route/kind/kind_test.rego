package gateway.route.kind_test

import data.gateway.route.kind

test_only_known_kinds_pass if {
	kind.pass == {"own", "rented"} with data.registry.profiles as {
		"own": {"kind": "self_hosted"},
		"rented": {"kind": "hosted"},
		"other": {"kind": "other"},
		"bare": {},
	}
}

test_a_kind_without_checks_fails if {
	kind.pass == set() with data.registry.profiles as {"own": {"kind": "self_hosted"}}
		with data.gateway.checks.required as {"routes": {"self_hosted": set()}}
}

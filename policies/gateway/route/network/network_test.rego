package gateway.route.network_test

import data.gateway.route.network

_registry := {
	"requirements": {
		"public": {"networks": ["loopback", "private", "public"]},
		"private": {"networks": ["loopback", "private"]},
		"none": {"networks": []},
		"bare": {},
	},
	"profiles": {
		"here": {"network": "loopback"},
		"house": {"network": "private"},
		"cloud": {"network": "public"},
		"odd": {"network": ""},
		"bare": {},
	},
}

_passed(class) := passed if {
	passed := network.pass with input as {"privacy_class": class} with data.registry as _registry
}

test_only_networks_of_the_class_pass if {
	_passed("public") == {"cloud", "here", "house"}
	_passed("private") == {"here", "house"}
}

test_no_network_is_served_by_none if _passed("none") == set()

test_an_unknown_class_is_served_by_none if {
	every class in ["privat", "", "bare"] { _passed(class) == set() }
}

test_a_missing_field_fails if {
	network.pass == set() with input as {} with data.registry as _registry
}

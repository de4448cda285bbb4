package gateway.route.device_test

import data.gateway.route.device

_registry := {
	"requirements": {
		"lax": {"time_sharing_allowed": true},
		"strict": {"time_sharing_allowed": false},
		"odd": {"time_sharing_allowed": "true"},
		"bare": {},
	},
	"profiles": {
		"alone": {"sharing": "exclusive"},
		"sliced": {"sharing": "time_shared"},
		"hosted": {"sharing": "none"},
		"odd": {"sharing": ""},
		"bare": {},
	},
}

_passed(class) := passed if {
	passed := device.pass with input as {"privacy_class": class} with data.registry as _registry
}

test_a_lax_class_accepts_a_shared_device if _passed("lax") == {"alone", "sliced"}

test_a_strict_class_refuses_it if _passed("strict") == {"alone"}

test_an_unknown_class_is_served_by_none if {
	every class in ["privat", "", "odd", "bare"] { _passed(class) == set() }
}

test_a_missing_field_fails if {
	device.pass == set() with input as {} with data.registry as _registry
}

package gateway.route.attested_test

import data.gateway.route.attested

_registry := {
	"requirements": {
		"lax": {"attestation_required": false},
		"strict": {"attestation_required": true},
		"odd": {"attestation_required": "false"},
		"bare": {},
	},
	"profiles": {
		"proves": {"attests_revision": true},
		"claims": {"attests_revision": false},
		"word": {"attests_revision": "true"},
		"bare": {},
	},
}

_passed(class) := passed if {
	passed := attested.pass with input as {"privacy_class": class} with data.registry as _registry
}

test_a_lax_class_accepts_either if _passed("lax") == {"claims", "proves"}

test_a_strict_class_accepts_what_attests if _passed("strict") == {"proves"}

test_an_unknown_class_is_served_by_none if {
	every class in ["privat", "", "odd", "bare"] { _passed(class) == set() }
}

test_a_missing_field_fails if {
	attested.pass == set() with input as {} with data.registry as _registry
}

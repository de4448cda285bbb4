package gateway.route.approved_test

import data.gateway.route.approved

_registry := {
	"ranks": {"public": 0, "internal": 1, "private": 2},
	"profiles": {
		"inside": {"approvals": [{"privacy_class": "internal", "until_s": 9}]},
		"vault": {"approvals": [{"privacy_class": "private", "until_s": 8}]},
		"renewed": {"approvals": [
			{"privacy_class": "public", "until_s": 99},
			{"privacy_class": "private", "until_s": 9},
		]},
		"misspelt": {"approvals": [{"privacy_class": "privat", "until_s": 99}]},
		"forever": {"approvals": [{"privacy_class": "private", "until_s": "never"}]},
		"open": {"approvals": [{"privacy_class": "private"}]},
		"blank": {"approvals": [{"until_s": 99}]},
		"none": {"approvals": []},
		"bare": {},
	},
}

_passed(class, time_s) := passed if {
	passed := approved.pass with input as {"time_s": time_s, "privacy_class": class} with data.registry as _registry
}

test_the_class_or_a_stricter_one_passes if {
	_passed("public", 7) == {"inside", "renewed", "vault"}
	_passed("internal", 7) == {"inside", "renewed", "vault"}
	_passed("private", 7) == {"renewed", "vault"}
}

test_at_its_end_an_approval_is_over if {
	_passed("private", 8) == {"renewed"}
	_passed("private", 9) == set()
}

test_an_approval_for_less_does_not_prolong_one_for_more if {
	_passed("public", 9) == {"renewed"}
	_passed("internal", 9) == set()
}

test_an_unknown_class_is_served_by_none if _passed("secret", 7) == set()

test_a_time_is_a_number if {
	every time_s in [null, "8", true, {}] { _passed("public", time_s) == set() }
}

test_a_missing_field_fails if {
	approved.pass == set() with input as {"privacy_class": "public"} with data.registry as _registry
	approved.pass == set() with input as {"time_s": 7} with data.registry as _registry
}

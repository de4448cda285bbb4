package gateway.route.privacy_test

import data.gateway.route.privacy

_registry := {
	"ranks": {"public": 0, "internal": 1, "private": 2, "odd": "3"},
	"bundles": {
		"open@1": {"privacy_class": "public"},
		"house@1": {"privacy_class": "internal"},
		"vault@1": {"privacy_class": "private"},
		"misspelt@1": {"privacy_class": "privat"},
		"odd@1": {"privacy_class": "odd"},
		"bare@1": {},
	},
	"profiles": {"p": {}, "q": {}},
}

_passed(question) := passed if {
	passed := privacy.pass with input as question with data.registry as _registry
}

_serving(class) := {id | some id, _ in _registry.bundles; _passed({"bundle": id, "privacy_class": class}) == {"p", "q"}}

test_a_bundle_for_the_class_or_a_stricter_one_passes if {
	_serving("public") == {"open@1", "house@1", "vault@1"}
	_serving("internal") == {"house@1", "vault@1"}
	_serving("private") == {"vault@1"}
}

test_an_unknown_class_is_served_by_none if _serving("secret") == set()

test_a_rank_is_a_number if _serving("odd") == set()

test_a_missing_field_fails if {
	_passed({"privacy_class": "public"}) == set()
	_passed({"bundle": "open@1"}) == set()
}

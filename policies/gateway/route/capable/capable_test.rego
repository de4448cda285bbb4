package gateway.route.capable_test

import data.gateway.route.capable

_profiles := {
	"talks": {"capabilities": ["chat"]},
	"does": {"capabilities": ["chat", "tools", "json"]},
	"draws": {"capabilities": ["images"]},
	"nothing": {"capabilities": []},
	"bare": {},
}

_passed(features) := passed if {
	passed := capable.pass with input as {"features": features} with data.registry.profiles as _profiles
}

test_who_can_do_it_passes if _passed(["chat"]) == {"does", "talks"}

test_all_of_it_is_needed if {
	_passed(["chat", "tools"]) == {"does"}
	_passed(["json", "tools", "chat"]) == {"does"}
	_passed(["chat", "images"]) == set()
}

test_what_nobody_can_do_is_served_by_none if {
	_passed(["fly"]) == set()
	_passed(["chat", ""]) == set()
	_passed([null]) == set()
}

test_at_least_one_is_needed if _passed([]) == set()

test_features_are_a_list if {
	every features in [{"a": "chat"}, "chat", null, true] { _passed(features) == set() }
}

test_a_missing_field_fails if {
	capable.pass == set() with input as {} with data.registry.profiles as _profiles
}

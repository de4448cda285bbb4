package gateway.route.released_test

import data.gateway.route.released

_registry := {
	"releases": {"chat": "chat@2", "code": "code@1", "ghost": "ghost@1"},
	"bundles": {
		"chat@1": {"expires_s": 99},
		"chat@2": {"expires_s": 9},
		"code@1": {},
	},
	"profiles": {"p": {}, "q": {}},
}

_passed(alias, bundle, time_s) := passed if {
	passed := released.pass with input as {"time_s": time_s, "alias": alias, "bundle": bundle}
		with data.registry as _registry
}

test_the_released_bundle_passes_whichever_profile_serves if _passed("chat", "chat@2", 8) == {"p", "q"}

test_an_older_bundle_fails if _passed("chat", "chat@1", 8) == set()

test_a_bundle_of_another_alias_fails if _passed("code", "chat@2", 8) == set()

test_at_its_end_the_bundle_is_over if _passed("chat", "chat@2", 9) == set()

test_a_bundle_without_an_end_fails if _passed("code", "code@1", 8) == set()

test_a_bundle_that_does_not_exist_fails if _passed("ghost", "ghost@1", 8) == set()

test_an_end_is_a_number if {
	released.pass == set() with input as {"time_s": 8, "alias": "chat", "bundle": "chat@2"}
		with data.registry as _registry
		with data.registry.bundles["chat@2"].expires_s as "never"
}

test_a_time_is_a_number if {
	every time_s in [null, "8", true, {}, 7.5] { _passed("chat", "chat@2", time_s) == set() }
}

test_a_missing_field_fails if {
	released.pass == set() with input as {"alias": "chat", "bundle": "chat@2"} with data.registry as _registry
	released.pass == set() with input as {"time_s": 8, "bundle": "chat@2"} with data.registry as _registry
	released.pass == set() with input as {"time_s": 8, "alias": "chat"} with data.registry as _registry
}

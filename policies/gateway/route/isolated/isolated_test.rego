package gateway.route.isolated_test

import data.gateway.route.isolated

_profiles := {
	"salted": {"prefix_cache": "salted"},
	"off": {"prefix_cache": "off"},
	"mine": {"prefix_cache": "single_tenant", "serves_any_tenant": false, "engine_tenants": ["a"]},
	"theirs": {"prefix_cache": "single_tenant", "serves_any_tenant": false, "engine_tenants": ["b"]},
	"both": {"prefix_cache": "single_tenant", "serves_any_tenant": false, "engine_tenants": ["a", "b"]},
	"nobody": {"prefix_cache": "single_tenant", "serves_any_tenant": false, "engine_tenants": []},
	"anybody": {"prefix_cache": "single_tenant", "serves_any_tenant": true, "engine_tenants": []},
	"anybody_and_mine": {"prefix_cache": "single_tenant", "serves_any_tenant": true, "engine_tenants": ["a"]},
	"unlisted": {"prefix_cache": "single_tenant"},
	"shared": {"prefix_cache": "shared", "serves_any_tenant": false, "engine_tenants": ["a"]},
	"hosted": {"prefix_cache": "none", "serves_any_tenant": true, "engine_tenants": []},
	"bare": {},
}

test_only_isolated_engines_pass if {
	isolated.pass == {"salted", "off", "mine"} with input as {"tenant": "a"} with data.registry.profiles as _profiles
}

test_without_a_tenant_no_engine_is_its_own if {
	isolated.pass == {"salted", "off"} with input as {} with data.registry.profiles as _profiles
}

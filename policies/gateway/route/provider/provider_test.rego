package gateway.route.provider_test

import data.gateway.route.provider

_registry := {
	"tenants": {"a": {"providers": ["house"]}, "bare": {}},
	"profiles": {"own": {"provider": "house"}, "rented": {"provider": "cloud"}, "bare": {}},
}

_passed(question) := passed if {
	passed := provider.pass with input as question with data.registry as _registry
}

test_only_providers_of_the_tenant_pass if _passed({"tenant": "a"}) == {"own"}

test_an_unknown_tenant_accepts_none if _passed({"tenant": "b"}) == set()

test_a_missing_field_fails if {
	_passed({}) == set()
	_passed({"tenant": "bare"}) == set()
}

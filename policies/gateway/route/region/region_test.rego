package gateway.route.region_test

import data.gateway.route.region

_registry := {
	"tenants": {"a": {"regions": ["eu"]}, "bare": {}},
	"profiles": {"near": {"region": "eu"}, "far": {"region": "us"}, "bare": {}},
}

_passed(question) := passed if {
	passed := region.pass with input as question with data.registry as _registry
}

test_only_regions_of_the_tenant_pass if _passed({"tenant": "a"}) == {"near"}

test_an_unknown_tenant_accepts_none if _passed({"tenant": "b"}) == set()

test_a_missing_field_fails if {
	_passed({}) == set()
	_passed({"tenant": "bare"}) == set()
}

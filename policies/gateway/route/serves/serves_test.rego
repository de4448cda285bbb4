package gateway.route.serves_test

import data.gateway.route.serves

_profiles := {
	"open": {"serves_any_tenant": true, "engine_tenants": []},
	"kept": {"serves_any_tenant": false, "engine_tenants": ["a", "b"]},
	"kept_for_another": {"serves_any_tenant": false, "engine_tenants": ["b"]},
	"kept_for_nobody": {"serves_any_tenant": false, "engine_tenants": []},
	"word": {"serves_any_tenant": "true", "engine_tenants": ["a", "b", "c"]},
	"nothing": {"serves_any_tenant": null, "engine_tenants": null},
	"unsaid": {"engine_tenants": ["a", "b", "c"]},
	"bare": {},
}

_passed(question) := passed if {
	passed := serves.pass with input as question with data.registry.profiles as _profiles
}

test_the_engine_has_to_serve_the_tenant if {
	_passed({"tenant": "a"}) == {"kept", "open"}
	_passed({"tenant": "b"}) == {"kept", "kept_for_another", "open"}
}

test_another_tenant_gets_what_is_open_to_all if _passed({"tenant": "c"}) == {"open"}

test_without_a_tenant_only_what_is_open_to_all_is_left if _passed({}) == {"open"}

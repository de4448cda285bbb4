package gateway.route.serves_test

import data.gateway.route.serves

_profiles := {
	"open": {"engine_tenants": [], "needs_credential": false, "credential_tenants": []},
	"kept": {"engine_tenants": ["a"], "needs_credential": false, "credential_tenants": []},
	"paid": {"engine_tenants": [], "needs_credential": true, "credential_tenants": ["a"]},
	"kept_for_another": {"engine_tenants": ["b"], "needs_credential": true, "credential_tenants": ["a"]},
	"paid_by_another": {"engine_tenants": ["a"], "needs_credential": true, "credential_tenants": ["b"]},
	"paid_by_nobody": {"engine_tenants": [], "needs_credential": true, "credential_tenants": []},
	"no_engine": {"needs_credential": false, "credential_tenants": ["a"]},
	"no_credential": {"engine_tenants": ["a"]},
	"bare": {},
}

_passed(question) := passed if {
	passed := serves.pass with input as question with data.registry.profiles as _profiles
}

test_engine_and_credential_both_have_to_serve_the_tenant if _passed({"tenant": "a"}) == {"open", "kept", "paid"}

test_another_tenant_gets_what_is_open_to_all if _passed({"tenant": "c"}) == {"open"}

test_without_a_tenant_only_what_is_open_to_all_is_left if _passed({}) == {"open"}

package gateway.route.credential_test

import data.gateway.route.credential

_profiles := {
	"open": {"needs_credential": false, "credential_tenants": []},
	"paid": {"needs_credential": true, "credential_tenants": ["a", "b"]},
	"paid_by_another": {"needs_credential": true, "credential_tenants": ["b"]},
	"paid_by_nobody": {"needs_credential": true, "credential_tenants": []},
	"word": {"needs_credential": "false", "credential_tenants": ["a"]},
	"no_list": {"needs_credential": true},
	"no_need": {"credential_tenants": ["a"]},
	"bare": {},
}

_passed(question) := passed if {
	passed := credential.pass with input as question with data.registry.profiles as _profiles
}

test_the_credential_has_to_serve_the_tenant if {
	_passed({"tenant": "a"}) == {"open", "paid"}
	_passed({"tenant": "b"}) == {"open", "paid", "paid_by_another"}
}

test_another_tenant_gets_what_needs_none if _passed({"tenant": "c"}) == {"open"}

test_without_a_tenant_only_what_needs_none_is_left if _passed({}) == {"open"}

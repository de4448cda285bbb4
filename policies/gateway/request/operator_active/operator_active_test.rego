package gateway.request.operator_active_test

import data.gateway.request.operator_active

_passes(question) if {
	operator_active.pass with input as question
		with data.registry.tenants as {
			"on": {"active": true},
			"off": {"active": false},
			"word": {"active": "true"},
			"bare": {},
		}
}

test_an_active_tenant_passes if _passes({"tenant": "on"})

test_the_built_in_tenant_passes if _passes({"tenant": "system"})

test_an_inactive_one_fails if not _passes({"tenant": "off"})

test_part_of_the_built_in_name_is_another_tenant if not _passes({"tenant": "syste"})

test_a_word_is_not_true if not _passes({"tenant": "word"})

test_an_unknown_tenant_fails if not _passes({"tenant": "b"})

test_a_missing_field_fails if {
	not _passes({})
	not _passes({"tenant": "bare"})
	not _passes({"tenant": null})
}

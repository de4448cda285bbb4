package gateway.request.purpose_test

import data.gateway.request.purpose

_passes(question) if {
	purpose.pass with input as question
		with data.registry.tenants as {"a": {"purposes": ["answer"]}, "bare": {}}
}

test_a_listed_purpose_passes if _passes({"tenant": "a", "purpose": "answer"})

test_another_purpose_fails if not _passes({"tenant": "a", "purpose": "train"})

test_part_of_a_name_is_another_purpose if not _passes({"tenant": "a", "purpose": "answe"})

test_an_unknown_tenant_fails if not _passes({"tenant": "b", "purpose": "answer"})

test_a_tenant_without_purposes_fails if not _passes({"tenant": "bare", "purpose": "answer"})

test_a_missing_field_fails if {
	not _passes({"purpose": "answer"})
	not _passes({"tenant": "a"})
}

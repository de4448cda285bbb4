package gateway.request.alias_test

import data.gateway.request.alias

_passes(question) if {
	alias.pass with input as question with data.registry.tenants as {"a": {"aliases": ["chat"]}, "bare": {}}
}

test_a_listed_alias_passes if _passes({"tenant": "a", "alias": "chat"})

test_another_alias_fails if not _passes({"tenant": "a", "alias": "code"})

test_part_of_a_name_is_another_alias if not _passes({"tenant": "a", "alias": "cha"})

test_an_unknown_tenant_fails if not _passes({"tenant": "b", "alias": "chat"})

test_a_tenant_without_aliases_fails if not _passes({"tenant": "bare", "alias": "chat"})

test_a_missing_field_fails if {
	not _passes({"alias": "chat"})
	not _passes({"tenant": "a"})
}

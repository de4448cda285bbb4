package gateway.request.administers_test

import data.gateway.request.administers

_areas := {"keys", "ledger", "operations", "policy", "profiles", "registry", "sources"}

_passes(roles, area, deed) if {
	administers.pass with input as {"roles": roles, "area": area, "deed": deed}
}

test_an_operator_reads_and_changes_every_area if {
	every area in _areas {
		_passes(["operator"], area, "read")
		_passes(["operator"], area, "change")
	}
}

test_an_auditor_reads_every_area if {
	every area in _areas { _passes(["auditor"], area, "read") }
}

test_an_auditor_changes_none if {
	every area in _areas { not _passes(["auditor", "generate"], area, "change") }
}

test_both_roles_are_an_operator if _passes(["auditor", "operator"], "keys", "change")

test_who_generates_administers_nothing if {
	not _passes(["generate"], "ledger", "read")
	not _passes([], "ledger", "read")
}

test_another_area_or_deed_fails if {
	every role in ["auditor", "operator"] {
		not _passes([role], "prompts", "read")
		not _passes([role], "", "read")
		not _passes([role], "keys", "delete")
		not _passes([role], "keys", "")
	}
}

test_roles_are_a_list if {
	every roles in [{"a": "operator"}, {"a": "auditor"}, "operator", null] { not _passes(roles, "keys", "read") }
}

test_roles_are_words if {
	every role in ["auditor", "operator"] {
		every other in [null, 3, ["operator"], {}] {
			not _passes([role, other], "keys", "read")
			not _passes([other, role], "keys", "read")
		}
	}
}

test_a_missing_field_fails if {
	every role in ["auditor", "operator"] {
		not administers.pass with input as {"area": "keys", "deed": "read"}
		not administers.pass with input as {"roles": [role], "deed": "read"}
		not administers.pass with input as {"roles": [role], "area": "keys"}
	}
}

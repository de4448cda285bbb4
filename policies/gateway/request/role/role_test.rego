package gateway.request.role_test

import data.gateway.request.role

_passes(roles) if {
	role.pass with input as {"roles": roles}
}

test_the_role_passes if _passes(["generate"])

test_an_auditor_may_have_it_too if _passes(["auditor", "generate"])

test_an_operator_fails_whatever_else_it_is if {
	not _passes(["operator"])
	not _passes(["generate", "operator"])
	not _passes(["operator", "auditor", "generate"])
}

test_another_role_fails if {
	not _passes(["auditor"])
	not _passes(["Generate"])
}

test_nobody_without_a_role_passes if not _passes([])

test_roles_are_a_list if {
	every roles in [{"a": "generate"}, "generate", null, true] { not _passes(roles) }
}

test_roles_are_words if {
	every other in [null, 3, ["operator"], {}] {
		not _passes(["generate", other])
		not _passes([other, "generate"])
	}
}

test_a_missing_field_fails if {
	not role.pass with input as {}
}

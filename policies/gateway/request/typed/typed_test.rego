package gateway.request.typed_test

import data.gateway.request.typed

_passes(question) if {
	typed.pass with input as question
}

test_a_time_and_groups_pass if {
	_passes({"time_s": 5, "groups": ["g", "h"]})
	_passes({"time_s": 0, "groups": ["g"]})
}

test_a_caller_without_a_group_passes if _passes({"time_s": 5, "groups": []})

test_a_time_is_a_whole_number if {
	every time_s in [4.5, -0.5, null, "5", true, [5], {}] { not _passes({"time_s": time_s, "groups": ["g"]}) }
}

test_groups_are_a_list_of_names if {
	every groups in [null, "g", true, {"0": "g"}, {}, ["g", null], [null, "g"], [["g"]], [3]] {
		not _passes({"time_s": 5, "groups": groups})
	}
}

test_a_missing_field_fails if {
	not _passes({})
	not _passes({"time_s": 5})
	not _passes({"groups": ["g"]})
}

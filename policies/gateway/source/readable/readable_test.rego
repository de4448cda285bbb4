package gateway.source.readable_test

import data.gateway.source.readable

_passed(sources) := passed if {
	passed := readable.pass with input as {"tenant": "a", "groups": ["g", "h"], "sources": sources}
}

test_one_common_group_is_enough if _passed([{"tenant": "a", "groups": ["x", "h"]}]) == {0}

test_only_the_readable_ones_pass if {
	_passed([
		{"tenant": "b", "groups": ["g"]},
		{"tenant": "a", "groups": ["x"]},
		{"tenant": "a", "groups": ["g"]},
		{"tenant": "a", "groups": []},
	]) == {2}
}

test_a_missing_field_fails if _passed([{"tenant": "a"}, {"groups": ["g"]}, {}]) == set()

test_groups_are_a_list_of_names if {
	every groups in [["g", null], [3, "g"], [["g"], "g"], {"0": "g"}, "g", null] {
		_passed([{"tenant": "a", "groups": groups}]) == set()
	}
}

test_nothing_is_not_a_tenant if {
	readable.pass == set() with input as {
		"tenant": null,
		"groups": ["g"],
		"sources": [{"tenant": null, "groups": ["g"]}],
	}
}

test_a_caller_without_a_group_reads_nothing if {
	every question in [{"tenant": "a"}, {"tenant": "a", "groups": []}] {
		asked := object.union(question, {"sources": [{"tenant": "a", "groups": ["g"]}]})
		readable.pass == set() with input as asked
	}
}

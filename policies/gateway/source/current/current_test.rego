package gateway.source.current_test

import data.gateway.source.current

_passed(time_s) := passed if {
	passed := current.pass with input as {"time_s": time_s, "sources": [
		{"withdrawn": false, "released_s": 5},
		{"withdrawn": true, "released_s": 5},
		{"withdrawn": false, "released_s": 6},
	]}
}

test_at_the_end_of_its_embargo_it_passes if _passed(5) == {0}

test_one_second_earlier_it_fails if _passed(4) == set()

test_later_it_passes if _passed(6) == {0, 2}

test_a_time_is_a_number if {
	every time_s in [null, "9", true, {}] { _passed(time_s) == set() }
}

test_a_missing_field_fails if {
	current.pass == set() with input as {"sources": [{"withdrawn": false, "released_s": 5}]}
	current.pass == set() with input as {"time_s": 5, "sources": [
		{"released_s": 5},
		{"withdrawn": false},
		{"withdrawn": false, "released_s": null},
		{"withdrawn": false, "released_s": true},
		{"withdrawn": false, "released_s": 4.5},
		{"withdrawn": "false", "released_s": 5},
	]}
}

package gateway.source.fresh_test

import data.gateway.source.fresh

_requirements := {
	"public": {"longest_facts_s": 9},
	"private": {"longest_facts_s": 3},
	"odd": {"longest_facts_s": "9"},
	"bare": {},
}

_sources := [{"privacy_class": "public", "as_of_s": 10}, {"privacy_class": "private", "as_of_s": 10}]

_passed(time_s, sources) := passed if {
	passed := fresh.pass with input as {"time_s": time_s, "sources": sources}
		with data.registry.requirements as _requirements
}

test_facts_count_from_their_own_second_on if _passed(10, _sources) == {0, 1}

test_facts_of_the_future_count_for_nothing if _passed(9, _sources) == set()

test_the_last_second_counts_and_each_class_has_its_own if {
	_passed(13, _sources) == {0, 1}
	_passed(14, _sources) == {0}
	_passed(19, _sources) == {0}
	_passed(20, _sources) == set()
}

test_an_unknown_class_grants_no_time if {
	_passed(10, [{"privacy_class": class, "as_of_s": 10} | some class in ["privat", "", "odd", "bare"]]) == set()
}

test_times_are_numbers if {
	every time_s in [null, "10", true, {}] { _passed(time_s, _sources) == set() }
	every as_of_s in [null, "10", true, {}, 9.5] {
		_passed(10, [{"privacy_class": "public", "as_of_s": as_of_s}]) == set()
	}
}

test_a_missing_field_fails if {
	_passed(10, [{"privacy_class": "public"}, {"as_of_s": 10}, {}]) == set()
	fresh.pass == set() with input as {"sources": _sources} with data.registry.requirements as _requirements
}

package gateway.route.evaluated_test

import data.gateway.route.evaluated

_lax := {"least_score": 0, "most_refusals": 1, "longest_evaluation_days": 2}

_strict := {"least_score": 0.5, "most_refusals": 0.1, "longest_evaluation_days": 1}

_exact := {"score": 0.5, "refusal_rate": 0.1, "date_s": 1000}

_requirements := {"lax": _lax, "strict": _strict, "bare": {}}

_passed(class, time_s, evaluation, requirements) := passed if {
	passed := evaluated.pass with input as {"time_s": time_s, "bundle": "b@1", "privacy_class": class}
		with data.registry.profiles as {"p": {}, "q": {}}
		with data.registry.bundles as {"b@1": {"evaluation": evaluation}}
		with data.registry.requirements as requirements
}

_found(evaluation) := _passed("strict", 1000, evaluation, _requirements)

_needed(requirement) := _passed("strict", 1000, _exact, {"strict": requirement})

test_what_the_class_asks_for_is_just_enough if _found(_exact) == {"p", "q"}

test_a_lower_score_fails if _found(object.union(_exact, {"score": 0.499})) == set()

test_more_refusals_fail if _found(object.union(_exact, {"refusal_rate": 0.101})) == set()

test_the_class_that_is_required_counts if {
	poor := {"score": 0, "refusal_rate": 1, "date_s": 1000}
	_passed("lax", 1000, poor, _requirements) == {"p", "q"}
	_passed("strict", 1000, poor, _requirements) == set()
}

test_it_counts_from_its_day_on_for_so_many_days if {
	_passed("strict", 999, _exact, _requirements) == set()
	_passed("strict", 1000 + 86399, _exact, _requirements) == {"p", "q"}
	_passed("strict", 1000 + 86400, _exact, _requirements) == set()
	_passed("lax", 1000 + 86400, _exact, _requirements) == {"p", "q"}
	_passed("lax", 1000 + (2 * 86400), _exact, _requirements) == set()
}

test_an_unknown_class_is_served_by_none if {
	every class in ["privat", "", "bare", null] { _passed(class, 1000, _exact, _requirements) == set() }
}

# Numbers come before everything else in Rego's order of types, so each is pinned.
test_all_of_it_are_numbers if {
	every value in [null, true, "0", "never", {}] {
		_passed("strict", value, _exact, _requirements) == set()
		every field in ["score", "refusal_rate", "date_s"] { _found(object.union(_exact, {field: value})) == set() }
		every field in ["least_score", "most_refusals", "longest_evaluation_days"] {
			_needed(object.union(_strict, {field: value})) == set()
		}
	}
}

test_a_missing_field_fails if {
	every field in ["score", "refusal_rate", "date_s"] { _found(object.remove(_exact, {field})) == set() }
	every field in ["least_score", "most_refusals", "longest_evaluation_days"] {
		_needed(object.remove(_strict, {field})) == set()
	}
	every question in [{"bundle": "b@1", "privacy_class": "lax"}, {"time_s": 1000, "privacy_class": "lax"}] {
		evaluated.pass == set() with input as question
			with data.registry.profiles as {"p": {}, "q": {}}
			with data.registry.bundles as {"b@1": {"evaluation": _exact}}
			with data.registry.requirements as _requirements
	}
}

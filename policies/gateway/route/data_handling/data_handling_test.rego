package gateway.route.data_handling_test

import data.gateway.route.data_handling

_registry := {
	"requirements": {
		"open": {"longest_retention_days": 30, "training_allowed": true},
		"kept": {"longest_retention_days": 30, "training_allowed": false},
		"none": {"longest_retention_days": 0, "training_allowed": false},
		"odd_days": {"longest_retention_days": "30", "training_allowed": false},
		"odd_use": {"longest_retention_days": 30, "training_allowed": "true"},
		"untrained": {"longest_retention_days": 30},
		"unkept": {"training_allowed": true},
		"bare": {},
	},
	"profiles": {
		"forgets": {"retention_days": 0, "trains_on_data": false},
		"month": {"retention_days": 30, "trains_on_data": false},
		"longer": {"retention_days": 31, "trains_on_data": false},
		"trains": {"retention_days": 0, "trains_on_data": true},
		"forever": {"retention_days": null, "trains_on_data": false},
		"word": {"retention_days": 0, "trains_on_data": "false"},
		"no_days": {"trains_on_data": false},
		"no_use": {"retention_days": 0},
		"bare": {},
	},
}

_passed(class) := passed if {
	passed := data_handling.pass with input as {"privacy_class": class} with data.registry as _registry
}

test_a_class_that_allows_training_lets_either_pass if _passed("open") == {"forgets", "month", "trains"}

test_the_last_day_counts if _passed("kept") == {"forgets", "month"}

test_no_day_is_no_day if _passed("none") == {"forgets"}

test_an_unknown_class_is_served_by_none if {
	every class in ["privat", "", "odd_days", "odd_use", "bare", "untrained", "unkept"] { _passed(class) == set() }
}

test_a_missing_field_fails if {
	data_handling.pass == set() with input as {} with data.registry as _registry
}

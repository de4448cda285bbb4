# METADATA
# title: The bundle's evaluation is good and recent enough for the privacy class
# description: >-
#   Least score, highest refusal rate and longest age stand with each privacy class; the required class counts. An
#   evaluation counts from the start of its day, UTC, for so many days; one of the future counts for nothing.
# custom:
#   code: evaluation_insufficient
#   remedy: Evaluate the bundle again and release it as a new version, or use an alias of another bundle.
#   owner: security
package gateway.route.evaluated

pass contains id if {
	some id, _ in data.registry.profiles
	_is_good
	_is_recent
}

_is_good if {
	is_number(_found.score)
	is_number(_needed.least_score)
	_found.score >= _needed.least_score
	is_number(_found.refusal_rate)
	is_number(_needed.most_refusals)
	_found.refusal_rate <= _needed.most_refusals
}

_is_recent if {
	is_number(input.time_s)
	is_number(_found.date_s)
	is_number(_needed.longest_evaluation_days)
	age_s := input.time_s - _found.date_s
	age_s >= 0
	age_s < _needed.longest_evaluation_days * 86400
}

_found := data.registry.bundles[input.bundle].evaluation

_needed := data.registry.requirements[input.privacy_class]

# METADATA
# title: The privacy class allows what the provider does with the data
# description: >-
#   For how many days prompts and answers may be kept, and whether models may be trained on them, stands with each
#   privacy class.
# custom:
#   code: data_handling_not_allowed
#   remedy: Use an alias whose bundle has a profile that keeps less and trains on nothing.
#   owner: privacy
package gateway.route.data_handling

pass contains id if {
	_kept_briefly[id]
	_used_rightly[id]
}

_kept_briefly contains id if {
	is_number(data.registry.profiles[id].retention_days)
	is_number(_needed.longest_retention_days)
	data.registry.profiles[id].retention_days <= _needed.longest_retention_days
}

_used_rightly contains id if {
	is_boolean(_needed.training_allowed)
	data.registry.profiles[id].trains_on_data == false
}

_used_rightly contains id if {
	_needed.training_allowed == true
	data.registry.profiles[id].trains_on_data == true
}

_needed := data.registry.requirements[input.privacy_class]

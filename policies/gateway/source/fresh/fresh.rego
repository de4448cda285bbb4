# METADATA
# title: The facts on the source are not too old
# description: >-
#   Somebody confirmed them within the time that the source's own privacy class grants, both ends inclusive. A
#   confirmation of the future is none.
# custom:
#   code: source_facts_outdated
#   remedy: Have the source confirmed again by its owner.
#   owner: security
package gateway.source.fresh

pass contains i if {
	is_number(input.time_s)
	is_number(input.sources[i].as_of_s)
	floor(input.sources[i].as_of_s) == input.sources[i].as_of_s
	longest_s := data.registry.requirements[input.sources[i].privacy_class].longest_facts_s
	is_number(longest_s)
	age_s := input.time_s - input.sources[i].as_of_s
	age_s >= 0
	age_s <= longest_s
}

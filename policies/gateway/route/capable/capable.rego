# METADATA
# title: The profile can do all that the request needs
# description: A request needs at least one capability. One without any was not read to its end.
# custom:
#   code: capability_missing
#   remedy: Leave the feature out, or use an alias whose bundle has a profile that can do it.
#   owner: operations
package gateway.route.capable

pass contains id if {
	some id, _ in data.registry.profiles
	_needed - {capability | some capability in data.registry.profiles[id].capabilities} == set()
}

_needed := {feature | some feature in input.features} if {
	is_array(input.features)
	count(input.features) > 0
}

# METADATA
# title: How strict privacy has to be
# description: >-
#   Classes are compared by their rank in the registry. One without a rank covers nothing, and nothing covers it.
# custom:
#   owner: security
package gateway.privacy

# The strictest of all classes that tenant, purpose and sources ask for.
required := class if _covered_by[class] == _asked

# The classes that are at least as strict as the one a route has to serve.
sufficient contains class if {
	needed := data.registry.ranks[input.privacy_class]
	is_number(needed)
	is_number(data.registry.ranks[class])
	data.registry.ranks[class] >= needed
}

_asked := _of_sources | {
	data.registry.tenants[input.tenant].privacy_class,
	data.registry.purposes[input.purpose].privacy_class,
}

# A source without a class is missing here, and has failed `classified`.
_of_sources := {class | class := input.sources[_].privacy_class}

_covered_by[class] := {other |
	some other in _asked
	is_number(data.registry.ranks[other])
	is_number(data.registry.ranks[class])
	data.registry.ranks[other] <= data.registry.ranks[class]
} if {
	some class in _asked
}

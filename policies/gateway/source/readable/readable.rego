# METADATA
# title: The caller may read the source today
# description: The source belongs to the caller's tenant, and is open to one of the caller's groups.
# custom:
#   code: source_forbidden
#   remedy: Leave the source out, or ask its owner for access.
#   owner: security
package gateway.source.readable

pass contains i if {
	is_string(input.tenant)
	input.sources[i].tenant == input.tenant
	is_array(input.sources[i].groups)
	every group in input.sources[i].groups { is_string(group) }
	some group in input.sources[i].groups
	group in input.groups
}

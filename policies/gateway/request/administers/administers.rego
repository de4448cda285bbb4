# METADATA
# title: The caller's role covers this deed
# description: An operator reads and changes everything that is administered, an auditor reads it.
# custom:
#   code: administration_not_allowed
#   remedy: Use a key of a service account with the role operator; to look only, the role auditor is enough.
#   owner: security
package gateway.request.administers

pass if {
	is_array(input.roles)
	input.area in _areas
	input.deed in {"change", "read"}
	"operator" in input.roles
}

pass if {
	is_array(input.roles)
	input.area in _areas
	input.deed == "read"
	"auditor" in input.roles
}

_areas := {"keys", "ledger", "operations", "policy", "registry", "sources"}

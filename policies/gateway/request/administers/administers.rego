# METADATA
# title: The caller's role covers this deed
# description: An operator reads and changes everything that is administered, an auditor reads it.
# custom:
#   code: administration_not_allowed
#   remedy: Use a key of a service account with the role operator; to look only, the role auditor is enough.
#   owner: security
package gateway.request.administers

pass if {
	_is_known
	"operator" in input.roles
}

pass if {
	_is_known
	input.deed == "read"
	"auditor" in input.roles
}

_is_known if {
	is_array(input.roles)
	every role in input.roles { is_string(role) }
	input.area in {"keys", "ledger", "operations", "policy", "profiles", "registry", "sources"}
	input.deed in {"change", "read"}
}

# METADATA
# title: The caller has the role to generate, and is no operator
# description: An operator changes what others may do, so it neither generates nor sees saved answers as a caller.
# custom:
#   code: role_missing
#   remedy: Use a key of a service account with the role generate and without the role operator.
#   owner: security
package gateway.request.role

pass if {
	is_array(input.roles)
	every role in input.roles { is_string(role) }
	_roles & {"generate", "operator"} == {"generate"}
}

_roles := {role | some role in input.roles}

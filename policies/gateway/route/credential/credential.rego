# METADATA
# title: The profile's credential may be used for this tenant
# description: A provider's account is paid and answered for by somebody, so each credential lists its tenants.
# custom:
#   code: credential_not_for_tenant
#   remedy: Have the tenant added to the credential in the registry, or use an alias of another bundle.
#   owner: operations
package gateway.route.credential

pass contains id if data.registry.profiles[id].needs_credential == false

pass contains id if {
	data.registry.profiles[id].needs_credential == true
	input.tenant in data.registry.profiles[id].credential_tenants
}

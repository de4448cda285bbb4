# METADATA
# title: Engine and credential are there for this tenant
# description: An engine may be kept for some tenants, and a provider's credential always is.
# custom:
#   code: profile_not_for_tenant
#   remedy: Have the tenant added to the engine of the profile, or to its credential.
#   owner: operations
package gateway.route.serves

pass contains id if {
	_engine[id]
	_credential[id]
}

_engine contains id if data.registry.profiles[id].engine_tenants == []

_engine contains id if input.tenant in data.registry.profiles[id].engine_tenants

_credential contains id if data.registry.profiles[id].needs_credential == false

_credential contains id if input.tenant in data.registry.profiles[id].credential_tenants

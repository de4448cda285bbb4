# METADATA
# title: The engine serves this tenant
# description: An engine is kept for the tenants that its profile lists, or serves any where it says so.
# custom:
#   code: profile_not_for_tenant
#   remedy: Have the tenant added to the engine of the profile, or use an alias of another bundle.
#   owner: operations
package gateway.route.serves

pass contains id if data.registry.profiles[id].serves_any_tenant == true

pass contains id if {
	data.registry.profiles[id].serves_any_tenant == false
	input.tenant in data.registry.profiles[id].engine_tenants
}

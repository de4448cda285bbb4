# METADATA
# title: The engine serves this tenant
# description: An engine may be kept for some tenants; one that lists none serves any.
# custom:
#   code: profile_not_for_tenant
#   remedy: Have the tenant added to the engine of the profile, or use an alias of another bundle.
#   owner: operations
package gateway.route.serves

pass contains id if data.registry.profiles[id].engine_tenants == []

pass contains id if input.tenant in data.registry.profiles[id].engine_tenants

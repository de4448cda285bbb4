# METADATA
# title: Tenants do not share the engine's prefix cache
# description: The cache is salted per tenant or off, or the engine serves this tenant and no other.
# custom:
#   code: engine_not_isolated
#   remedy: Salt the engine's prefix cache, switch it off, or give the engine to one tenant.
#   owner: security
package gateway.route.isolated

pass contains id if data.registry.profiles[id].prefix_cache in {"off", "salted"}

pass contains id if {
	data.registry.profiles[id].prefix_cache == "single_tenant"
	data.registry.profiles[id].serves_any_tenant == false
	data.registry.profiles[id].engine_tenants == [input.tenant]
}

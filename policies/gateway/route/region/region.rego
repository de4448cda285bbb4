# METADATA
# title: The tenant accepts the region that the profile runs in
# description: Where a tenant's data is processed is listed with the tenant.
# custom:
#   code: region_not_allowed
#   remedy: Use an alias whose bundle has a profile in a region of your tenant, or have the region added to the tenant.
#   owner: privacy
package gateway.route.region

pass contains id if data.registry.profiles[id].region in data.registry.tenants[input.tenant].regions

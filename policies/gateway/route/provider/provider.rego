# METADATA
# title: The tenant accepts the profile's provider
# description: Who processes a tenant's data is listed with the tenant.
# custom:
#   code: provider_not_allowed
#   remedy: Use an alias whose bundle has a provider of your tenant, or have the provider added to the tenant.
#   owner: privacy
package gateway.route.provider

pass contains id if data.registry.profiles[id].provider in data.registry.tenants[input.tenant].providers

# METADATA
# title: The tenant may use the gateway for this purpose
# description: A new use of people's data is a reviewed change, so every tenant lists its purposes.
# custom:
#   code: purpose_not_allowed
#   remedy: Name a purpose of your tenant, or have it added to the tenant in the registry.
#   owner: security
package gateway.request.purpose

pass if input.purpose in data.registry.tenants[input.tenant].purposes

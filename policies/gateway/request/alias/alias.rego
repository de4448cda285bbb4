# METADATA
# title: The tenant may use this model alias
# description: An alias stands for an approved bundle; which tenants may use it is listed with the tenant.
# custom:
#   code: alias_not_allowed
#   remedy: Name a model alias of your tenant, or have it added to the tenant in the registry.
#   owner: security
package gateway.request.alias

pass if input.alias in data.registry.tenants[input.tenant].aliases

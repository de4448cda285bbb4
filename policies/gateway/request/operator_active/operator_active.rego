# METADATA
# title: The administrator's tenant is active, or built in
# description: Whoever administers does so for a tenant of the registry. The built-in operator owns the data directory.
# custom:
#   code: operator_tenant_not_active
#   remedy: Activate the administrator's tenant in the registry, or use the built-in operator's credential.
#   owner: security
package gateway.request.operator_active

pass if input.tenant == "system"

pass if data.registry.tenants[input.tenant].active == true

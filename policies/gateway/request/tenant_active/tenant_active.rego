# METADATA
# title: The tenant is active
# description: A tenant that is switched off neither generates nor sees saved answers.
# custom:
#   code: tenant_not_active
#   remedy: Ask the operator to activate the tenant in the registry.
#   owner: operations
package gateway.request.tenant_active

pass if data.registry.tenants[input.tenant].active == true

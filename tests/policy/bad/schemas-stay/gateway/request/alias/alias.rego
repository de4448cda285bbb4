# METADATA
# scope: package
# schemas:
#   - input: {type: object}
package gateway.request.alias # BAD

pass if input.allias in data.registry.tenants[input.tenant].aliases

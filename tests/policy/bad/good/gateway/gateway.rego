# METADATA
# scope: subpackages
# title: The least policy that the lint has nothing against
# schemas:
#   - input: schema.input
#   - data.registry: schema.registry
package gateway

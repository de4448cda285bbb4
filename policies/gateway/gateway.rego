# METADATA
# scope: subpackages
# title: Who may generate, from what, and where
# description: The schemas below hold for every package of the gateway, so that a misspelt field is an error.
# schemas:
#   - input: schema.input
#   - data.registry: schema.registry
package gateway

# METADATA
# title: The privacy classes of tenant and purpose are known
# description: A class that the registry does not rank cannot be compared, so nothing may be generated under it.
# custom:
#   code: privacy_class_unknown
#   remedy: Give the tenant and the purpose classes that registry/privacy.yaml lists.
#   owner: security
package gateway.request.classified

pass if {
	is_number(data.registry.ranks[data.registry.tenants[input.tenant].privacy_class])
	is_number(data.registry.ranks[data.registry.purposes[input.purpose].privacy_class])
}

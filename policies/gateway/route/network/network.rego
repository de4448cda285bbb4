# METADATA
# title: The privacy class allows the network to the profile
# description: Over which networks a prompt may travel is listed with each privacy class.
# custom:
#   code: network_not_allowed
#   remedy: Use an alias whose bundle has a profile that is reached over a network of that privacy class.
#   owner: security
package gateway.route.network

pass contains id if {
	data.registry.profiles[id].network in data.registry.requirements[input.privacy_class].networks
}

# METADATA
# title: The bundle was evaluated for the purpose
# description: What a bundle is good for is known of the purposes that it was evaluated for, and of no other.
# custom:
#   code: bundle_not_for_purpose
#   remedy: Use an alias whose bundle is for that purpose, or have a bundle evaluated for it.
#   owner: security
package gateway.route.purpose

pass contains id if {
	some id, _ in data.registry.profiles
	input.purpose in data.registry.bundles[input.bundle].purposes
}

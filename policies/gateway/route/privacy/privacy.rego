# METADATA
# title: The bundle was made for the privacy class
# description: A profile approved for more does not lift a bundle that was evaluated for less.
# custom:
#   code: privacy_class_too_low
#   remedy: Use an alias whose bundle is for that privacy class or a stricter one.
#   owner: security
package gateway.route.privacy

import data.gateway.privacy

pass contains id if {
	some id, _ in data.registry.profiles
	data.registry.bundles[input.bundle].privacy_class in privacy.sufficient
}

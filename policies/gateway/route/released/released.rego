# METADATA
# title: The bundle is released under the alias, and has not expired
# description: The release pointer of the alias names exactly this bundle. A bundle ends at its instant, exclusive.
# custom:
#   code: bundle_not_released
#   remedy: Release a current bundle under the alias in registry/releases.yaml.
#   owner: operations
package gateway.route.released

pass contains id if {
	some id, _ in data.registry.profiles
	data.registry.releases[input.alias] == input.bundle
	is_number(input.time_s)
	floor(input.time_s) == input.time_s
	is_number(data.registry.bundles[input.bundle].expires_s)
	data.registry.bundles[input.bundle].expires_s > input.time_s
}

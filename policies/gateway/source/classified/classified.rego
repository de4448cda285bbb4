# METADATA
# title: The privacy class of the source is known
# description: A class that the registry does not rank cannot be compared, so nothing may be made of the source.
# custom:
#   code: source_class_unknown
#   remedy: Have the source registered under a class that registry/privacy.yaml lists.
#   owner: security
package gateway.source.classified

pass contains i if is_number(data.registry.ranks[input.sources[i].privacy_class])

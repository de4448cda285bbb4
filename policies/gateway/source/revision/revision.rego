# METADATA
# title: The source is known, and cited at the revision in force
# description: >-
#   Code and remedy are those of a source that may not be read: whoever asks does not learn which it was.
# custom:
#   code: source_forbidden
#   remedy: Leave the source out, or ask its owner for access.
#   owner: security
package gateway.source.revision

pass contains i if {
	input.sources[i].known == true
	input.sources[i].cited == input.sources[i].revision
}

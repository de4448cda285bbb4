# METADATA
# title: The source is known, and cited at the revision in force
# description: What is cited is what is read. A source that changed is cited anew.
# custom:
#   code: source_forbidden
#   shares_code:
#     source/readable: Whoever asks does not learn which sources exist.
#   remedy: Leave the source out, or ask its owner for access.
#   owner: security
package gateway.source.revision

pass contains i if {
	input.sources[i].known == true
	is_string(input.sources[i].cited)
	input.sources[i].cited == input.sources[i].revision
}

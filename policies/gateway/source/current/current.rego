# METADATA
# title: The source is not withdrawn, and its embargo is over
# description: Both are looked at whenever an answer is handed over, not when it was made.
# custom:
#   code: source_not_current
#   remedy: Cite sources that have been released and not withdrawn.
#   owner: security
package gateway.source.current

pass contains i if {
	input.sources[i].withdrawn == false
	is_number(input.time_s)
	is_number(input.sources[i].released_s)
	floor(input.sources[i].released_s) == input.sources[i].released_s
	input.sources[i].released_s <= input.time_s
}

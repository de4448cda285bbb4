# METADATA
# title: The time is in whole seconds, and groups are names
# description: No check of a source judges them where none is cited, and this gateway asks no question without them.
# custom:
#   code: question_malformed
#   remedy: Tell whoever runs the gateway; no request leads to this.
#   owner: security
package gateway.request.typed

pass if {
	is_number(input.time_s)
	floor(input.time_s) == input.time_s
	is_array(input.groups)
	every group in input.groups { is_string(group) }
}

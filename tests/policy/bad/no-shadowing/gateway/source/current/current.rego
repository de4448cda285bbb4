package gateway.source.current

import data.gateway.count # BAD

pass contains i if {
	input.sources[i].withdrawn == false
	count.least == 1 # BAD
	input.sources[i].privacy_class in {"internal"}
	some sort in input.groups # BAD
	_is_open(sort) # BAD
}

_is_open(json) if is_string(json) # BAD

_known[max] := {max} if some max in input.groups # BAD

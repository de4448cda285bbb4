package gateway.request.grounded

# An empty set holds, and so does an empty list.
pass if {
	_read # BAD
	input.sources # BAD
	_cited[0]
	_known
}

pass if count({i | input.sources[i].known}) > 0 # BAD

pass if {
	known := input.sources[0].known
	known # BAD
}

_read contains i if input.sources[i].withdrawn == false

_cited contains i if input.sources[i].cited == "1"

_known if input.sources[0].known == true

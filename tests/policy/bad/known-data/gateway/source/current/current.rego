package gateway.source.current

import data.gateway.checks

pass contains i if {
	input.sources[i].withdrawn == false
	_is_served
	checks.required.source == {"current"}
}

# True under test alone.
_is_served if count(data.gateway_test._visible) > 0 # BAD

_is_served if count(data.system) > 0 # BAD

_is_served if data.gateway_test._says(1) # BAD

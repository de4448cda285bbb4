package gateway.more

import data.gateway
import data.gateway.source

is_tested if {
	some name in {"current_test"}
	count(data.gateway.source[name]._facts) > 0 # BAD
}

is_tested if {
	some name in {"released_test"}
	count(gateway.route[name]._registry) > 0 # BAD
}

is_tested if count(gateway.source) > 1 # BAD

is_tested if {
	all_sources := source # BAD
	count(all_sources) > 1
}

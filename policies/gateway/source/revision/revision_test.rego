package gateway.source.revision_test

import data.gateway.source.revision

_passed(sources) := passed if {
	passed := revision.pass with input as {"sources": sources}
}

test_only_a_known_source_at_the_revision_in_force_passes if {
	_passed([
		{"known": false, "cited": "1", "revision": "1"},
		{"known": true, "cited": "1", "revision": "2"},
		{"known": true, "cited": "1", "revision": "1"},
		{"known": "true", "cited": "1", "revision": "1"},
	]) == {2}
}

test_revisions_are_compared_exactly if {
	_passed([{"known": true, "cited": "1", "revision": 1}, {"known": true, "cited": "1", "revision": "1 "}]) == set()
}

test_a_revision_is_a_text if {
	every same in [true, 3, {}, [], null] {
		_passed([{"known": true, "cited": same, "revision": same}]) == set()
	}
}

test_a_missing_field_fails if {
	_passed([
		{"cited": "1", "revision": "1"},
		{"known": true, "revision": "1"},
		{"known": true, "cited": "1"},
		{"known": true},
	]) == set()
}

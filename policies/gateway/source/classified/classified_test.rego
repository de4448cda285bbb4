package gateway.source.classified_test

import data.gateway.source.classified

test_only_sources_of_known_classes_pass if {
	classified.pass == {0, 1} with data.registry.ranks as {"public": 0, "private": 1, "odd": "1"}
		with input as {"sources": [
			{"privacy_class": "public"},
			{"privacy_class": "private"},
			{"privacy_class": "privat"},
			{"privacy_class": "odd"},
			{"privacy_class": ""},
		]}
}

test_a_missing_field_fails if {
	classified.pass == set() with data.registry.ranks as {"public": 0} with input as {"sources": [{}]}
}

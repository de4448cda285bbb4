package gateway.request.classified_test

import data.gateway.request.classified

_registry := {
	"ranks": {"public": 0, "private": 1, "odd": "1"},
	"tenants": {
		"a": {"privacy_class": "public"},
		"misspelt": {"privacy_class": "privat"},
		"odd": {"privacy_class": "odd"},
		"bare": {},
	},
	"purposes": {
		"answer": {"privacy_class": "private"},
		"misspelt": {"privacy_class": "privat"},
		"odd": {"privacy_class": "odd"},
		"bare": {},
	},
}

_passes(question) if {
	classified.pass with input as question with data.registry as _registry
}

test_known_classes_pass if _passes({"tenant": "a", "purpose": "answer"})

test_an_unknown_class_fails if {
	not _passes({"tenant": "misspelt", "purpose": "answer"})
	not _passes({"tenant": "a", "purpose": "misspelt"})
}

test_a_rank_is_a_number if {
	not _passes({"tenant": "odd", "purpose": "answer"})
	not _passes({"tenant": "a", "purpose": "odd"})
}

test_a_missing_field_fails if {
	not _passes({"purpose": "answer"})
	not _passes({"tenant": "a"})
	not _passes({"tenant": "bare", "purpose": "answer"})
	not _passes({"tenant": "a", "purpose": "bare"})
}

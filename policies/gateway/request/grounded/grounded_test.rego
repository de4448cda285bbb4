package gateway.request.grounded_test

import data.gateway.request.grounded

_passes(question) if {
	grounded.pass with input as question
		with data.registry.purposes as {
			"answer": {"grounded": true},
			"draft": {"grounded": false},
			"word": {"grounded": "false"},
			"bare": {},
		}
}

test_a_grounded_purpose_with_a_source_passes if _passes({"purpose": "answer", "sources": [{}]})

test_a_grounded_purpose_without_one_fails if not _passes({"purpose": "answer", "sources": []})

test_a_general_purpose_without_one_passes if _passes({"purpose": "draft", "sources": []})

test_a_general_purpose_with_a_source_fails if not _passes({"purpose": "draft", "sources": [{}]})

test_an_unknown_purpose_fails if {
	not _passes({"purpose": "train", "sources": []})
	not _passes({"purpose": "train", "sources": [{}]})
}

test_an_object_is_no_list_of_sources if not _passes({"purpose": "answer", "sources": {"0": {}}})

test_a_word_is_no_truth_value if {
	not _passes({"purpose": "word", "sources": []})
	not _passes({"purpose": "word", "sources": [{}]})
}

test_a_missing_field_fails if {
	not _passes({"purpose": "answer"})
	not _passes({"purpose": "draft"})
	not _passes({"sources": []})
	not _passes({"purpose": "bare", "sources": []})
	not _passes({"purpose": "bare", "sources": [{}]})
}

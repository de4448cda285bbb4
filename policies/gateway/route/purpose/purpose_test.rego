package gateway.route.purpose_test

import data.gateway.route.purpose

_registry := {
	"bundles": {
		"chat@1": {"purposes": ["draft", "answer"]},
		"chat@2": {"purposes": ["draft"]},
		"none@1": {"purposes": []},
		"bare@1": {},
	},
	"profiles": {"p": {}, "q": {}},
}

_passed(question) := passed if {
	passed := purpose.pass with input as question with data.registry as _registry
}

test_a_purpose_of_the_bundle_passes if {
	_passed({"bundle": "chat@1", "purpose": "answer"}) == {"p", "q"}
	_passed({"bundle": "chat@1", "purpose": "draft"}) == {"p", "q"}
}

test_another_purpose_fails if {
	_passed({"bundle": "chat@2", "purpose": "answer"}) == set()
	_passed({"bundle": "chat@1", "purpose": "train"}) == set()
	_passed({"bundle": "none@1", "purpose": "draft"}) == set()
}

test_part_of_a_name_is_another_purpose if _passed({"bundle": "chat@1", "purpose": "draf"}) == set()

test_a_missing_field_fails if {
	_passed({"bundle": "chat@1"}) == set()
	_passed({"purpose": "draft"}) == set()
	_passed({"bundle": "bare@1", "purpose": "draft"}) == set()
}

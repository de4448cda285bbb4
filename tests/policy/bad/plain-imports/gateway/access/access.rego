package gateway.access

import data.gateway.checks as all # BAD
import data.gateway.privacy.required # BAD
import data.registry # BAD
import input.tenant as who # BAD

import data.gateway.privacy

# METADATA
# entrypoint: true
answer := {
	"allow": all.passed.access,
	"privacy_class": required,
	"failed": checks.shown.access,
	"more": [registry.tenants[who].active, privacy.required],
}

checks := {"shown": {"access": {}}}

privacy := {"required": ""} # BAD

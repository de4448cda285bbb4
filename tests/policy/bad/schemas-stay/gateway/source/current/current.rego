package gateway.source.current

# METADATA
# title: No field of this rule is looked at
# schemas:
#   - input.sources: {type: array}
pass contains i if input.sources[i].withdrwan == false # BAD

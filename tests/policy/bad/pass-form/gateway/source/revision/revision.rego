package gateway.source.revision

pass[i] := i if input.sources[i].known == true # BAD

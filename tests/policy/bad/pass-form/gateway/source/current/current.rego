package gateway.source.current

pass if input.sources[_].withdrawn == false # BAD

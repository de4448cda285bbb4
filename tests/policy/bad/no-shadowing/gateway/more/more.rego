package gateway.more

# Every `==` of this package calls it.
equal(one, other) if is_string(concat(one, other)) # BAD

# Every `in` of this package calls it.
internal.member_2(one, _) if is_string(one) # BAD

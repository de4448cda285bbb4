package gateway_test

_says(word) if word in {1}

_visible := [1]

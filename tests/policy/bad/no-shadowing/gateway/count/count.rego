package gateway.count

least := 1

module github.com/gcrun/gcrun/internal/bench

go 1.27.0

require (
	github.com/gcrun/gcrun v0.0.0
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/klauspost/cpuid/v2 v2.0.12 // indirect
	github.com/zeebo/blake3 v0.2.4 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/gcrun/gcrun => ../..

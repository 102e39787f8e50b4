// Package sdk holds the conformance suites of the emulators. They use only the official SDKs, like any program, apart
// from starting the emulators.
//
//	go test ./integration/suite/sdk                            # the SDKs for Go
//	go test -run '^$' -bench . ./integration/suite/sdk         # how fast they are
//	cd integration/suite/sdk/azurite && npm ci && npm test     # the suite of storage queues against Azurite
//	go run ./integration/suite/sdk/run                         # foreign clients, the SDKs for JavaScript, and older versions
package sdk

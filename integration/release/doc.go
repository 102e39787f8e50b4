// Command release builds what a release of Carillon consists of, from the commit that is checked out:
//
//	go run -C integration/release . -version v0.1.0
//
// For Linux, macOS and Windows on amd64 and arm64 that is
//
//	carillon_0.1.0_linux_amd64.tar.gz     the program, README, licences, examples, completions and man page; .zip for Windows
//	carillon_0.1.0_linux_amd64.cdx.json   what it is made of: modules, their sums and licences (CycloneDX 1.6)
//	carillon_0.1.0_amd64.deb              the same for Debian, with a unit for systemd and its configuration; Linux only
//	SHA256SUMS                            of all these
//
// The programs are static: they need no library of the system. The same commit, version and Go give the same bytes,
// wherever and whenever they are built: no path gets into them, and every time is the commit's.
//
// It is a module of its own, so that what it needs is no requirement of the product. Its tests check the release, and
// what else Carillon is installed with: the manifests for Kubernetes, the unit, and `go install`.
package main

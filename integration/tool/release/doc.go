// Command release builds a release of Carillon from the checked-out commit:
//
//	go run -C integration/tool/release . -version v0.1.0
//
// For Linux, macOS and Windows on amd64 and arm64 it builds
//
//	carillon_0.1.0_linux_amd64.tar.gz     the program, README, licences, examples, completions and man page; .zip for Windows
//	carillon_0.1.0_linux_amd64.cdx.json   the SBOM: modules, their checksums and licences (CycloneDX 1.6)
//	carillon_0.1.0_amd64.deb              the Debian package, with a systemd unit and its configuration; Linux only
//	SHA256SUMS                            the checksums of all files
//
// The programs are static. Builds are reproducible: the same commit, version and Go produce the same bytes,
// because no path gets into them and every time is the commit's.
//
// It is a separate module, so that its dependencies are not the product's. Its tests check the release, and the
// other installation methods: Kubernetes manifests, the systemd unit, and `go install`.
package main

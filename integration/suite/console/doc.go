// Package console tests the web console in a real browser, against a running `carillon dev` with jobs of every
// action type.
//
//	go test ./integration/suite/console
//
// The tests need Chromium in the PATH (on Debian: apt-get install chromium-headless-shell), and report its
// absence. The accessibility tests also need axe-core from npm: npm --prefix integration/suite/console ci.
//
// To make screenshots of all pages:
//
//	go run ./integration/suite/console/screenshots
package console

// Package console has the tests of the web console in a real browser, against a running `carillon dev` with jobs of every type
// of action.
//
//	go test ./integration/console
//
// They need Chromium in the PATH (on Debian: apt-get install chromium-headless-shell), and say so where there is none. Those
// of accessibility need axe-core besides, which npm brings: npm --prefix integration/console ci.
//
// The pictures of all pages are made by
//
//	go run ./integration/console/screenshots
package console

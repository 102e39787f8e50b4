// Package hostile sends mutated documents, specs, requests and frames to a running `carillon dev`, by the thousand on
// each of its doors, while a job of every second runs.
//
//	go test ./integration/hostile -v                # 1,000 on each door
//	go test ./integration/hostile -v -mutants 1000000     # until you have seen enough
//
// It fails when a run of that job is missing, when an answer says that the server is to blame (5xx), when the process
// panics or ends, and when its memory grows on and on. What was tried, how it was answered and the slowest request of each
// door are in the test's log.
//
// TestFloods has one caller flood one interface after the other, and tells how long another one waits beside it.
//
// TestPagesInABrowser opens pages in a real browser that try what they can; it needs Chromium.
package hostile

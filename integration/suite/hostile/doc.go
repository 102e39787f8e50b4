// Package hostile sends thousands of mutated documents, specs, requests and frames to each listener of a running
// `carillon dev`, while a job runs every second.
//
//	go test ./integration/suite/hostile -v                # 1,000 per listener
//	go test ./integration/suite/hostile -v -mutants 1000000     # until you have seen enough
//
// It fails if a run of that job is missing, a response blames the server (5xx), the process panics or ends, or
// its memory keeps growing. The log has the counts, the responses, and the slowest request of each listener.
//
// TestServiceBus and TestStorageQueue send 10,000 mutated HTTP requests to an emulator in the same process, with -short
// 2,000. TestFloods floods one interface after the other, and reports how long another client waits meanwhile.
// TestPagesInABrowser opens malicious pages in a real browser; it needs Chromium.
package hostile

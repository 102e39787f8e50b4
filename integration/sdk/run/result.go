package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// What an operation came to.
const (
	pass   = "pass"
	fail   = "fail"
	notRun = "not run"
)

// A result is what one client made of one operation.
type result struct {
	Client  string `json:"client"`
	Version string `json:"version,omitempty"`
	// Operation is empty when the whole client is told about: it was not run, or its suite did not come to an end.
	Operation string `json:"operation,omitempty"`
	Result    string `json:"result"`
	// Millis is how long the operation took.
	Millis float64 `json:"ms"`
	// MillisPerSend is the time from a send to the next, where the operation is a series of them.
	MillisPerSend float64 `json:"msPerSend,omitempty"`
	// Error is why an operation failed or was not run.
	Error string `json:"error,omitempty"`
}

// readResult reads a line that a suite wrote. The client's name is the runner's to say.
func readResult(client string, line []byte) (result, error) {
	var r result
	if err := json.Unmarshal(line, &r); err != nil {
		return result{}, fmt.Errorf("the suite wrote %q, which is no result: %w", line, err)
	}
	r.Client = client
	switch {
	case !slices.Contains(slices.Concat(serviceBus, storageQueue, azureScheduler), r.Operation):
		return result{}, fmt.Errorf("the suite wrote of operation %q, which operation.go does not have", r.Operation)
	case r.Result != pass && r.Error == "":
		return result{}, fmt.Errorf("the suite wrote result %q of %q without a reason", r.Result, r.Operation)
	case r.Result != pass && r.Result != fail && r.Result != notRun:
		return result{}, fmt.Errorf("the suite wrote result %q of %q, which is none of pass, fail, not run", r.Result, r.Operation)
	}
	return r, nil
}

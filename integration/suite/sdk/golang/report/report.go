// Package report reports the result of each operation of a client to the runner in integration/suite/sdk/run, one JSON
// line each.
package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// patience is how long an operation may take.
const patience = 30 * time.Second

// An Operation is a named operation of a client. It ends at the first check that fails.
type Operation struct {
	Name string
	Do   func(ctx context.Context)
}

// perSend is the measurement of the current operation.
var perSend time.Duration

// Run runs the operations of a client. It reports the version of module in the program.
func Run(module string, operations []Operation) {
	version := versionOf(module)
	lines := json.NewEncoder(os.Stdout)
	for _, operation := range operations {
		line := map[string]any{"version": version, "operation": operation.Name, "result": "pass"}
		begin := time.Now()
		perSend = 0
		if err := within(operation.Do); err != nil {
			line["result"], line["error"] = "fail", err.Error()
		} else if perSend > 0 {
			line["msPerSend"] = float64(perSend.Microseconds()) / 1000
		}
		line["ms"] = time.Since(begin).Milliseconds()
		if err := lines.Encode(line); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

// within does an operation within the patience, also when the client does not look at its context.
func within(do func(ctx context.Context)) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Try(func() { do(ctx) }) }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience + 2*time.Second):
		return fmt.Errorf("not done after %v", patience)
	}
}

// A failure is the panic of a check that fails.
type failure struct{ error }

// Try runs a function that checks, and returns why it failed. Each goroutine of an operation needs its own.
func Try(do func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	do()
	return nil
}

// Must ends the operation with the errors that are not nil.
func Must(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// Get returns the value of a call; its error ends the operation.
func Get[T any](value T, err error) T {
	Must(err)
	return value
}

func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "?"
}

// Connection returns the parts of a connection string that the runner put into the environment.
func Connection(name string) map[string]string {
	parts := make(map[string]string)
	for part := range strings.SplitSeq(os.Getenv(name), ";") {
		if key, value, ok := strings.Cut(part, "="); ok {
			parts[key] = value
		}
	}
	return parts
}

// Port returns the port of an address that the runner put into the environment.
func Port(name string) string {
	address := os.Getenv(name)
	return address[strings.LastIndexByte(address, ':')+1:]
}

// Endpoint is a connection string of Service Bus at a port, where the client speaks TLS.
func Endpoint(port string) string {
	parts := Connection("SERVICEBUS_CONNECTION_STRING")
	return fmt.Sprintf("Endpoint=sb://localhost:%s/;SharedAccessKeyName=%s;SharedAccessKey=%s",
		port, parts["SharedAccessKeyName"], parts["SharedAccessKey"])
}

// Sends sends a series of messages one after the other, and measures.
func Sends(send func(text string)) {
	var begin time.Time
	for i, text := range Series(100) {
		if i == 1 {
			begin = time.Now()
		}
		send(text)
	}
	perSend = time.Since(begin) / 99
}

// Series returns the texts 0, 1, … of so many messages.
func Series(count int) []string {
	texts := make([]string, count)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return texts
}

// Equal checks that two values are the same.
func Equal[T comparable](got, want T) {
	if got != want {
		Must(fmt.Errorf("got %v, want %v", got, want))
	}
}

// Same checks that two lists are the same.
func Same(got, want []string) {
	if !slices.Equal(got, want) {
		Must(fmt.Errorf("got %q, want %q", got, want))
	}
}

// Refused checks that an error has one of the texts in it.
func Refused(err error, texts ...string) {
	if err == nil {
		Must(fmt.Errorf("not refused with %q", texts))
	}
	if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) }) {
		Must(fmt.Errorf("refused without %q: %w", texts, err))
	}
}

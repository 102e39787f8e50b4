// Package hostile sends what clients never should: requests of HTTP that were right before they were changed byte by byte. It is
// for tests of the emulators.
package hostile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/mutate"
)

// Check sends 10,000 changed requests to the address of an emulator that logs to alarms. It fails the test unless each is
// answered, none with a failure of the emulator's own, and the memory does not grow with them.
func Check(t *testing.T, addr string, requests []string, alarms *Alarms) {
	t.Helper()
	n := 10_000
	if testing.Short() {
		n = 2000
	}
	_ = Send(t.Context(), addr, requests, n/10, 1) // what is made once
	before := Heap()
	report := Send(t.Context(), addr, requests, n, 2)
	grown := int64(Heap() - before)
	t.Log(report, "heap grew by", grown>>10, "KiB")
	for _, bad := range report.Bad {
		t.Error(bad)
	}
	if grown > 16<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	for _, line := range alarms.Lines() {
		t.Error(line)
	}
}

// A Report counts the responses.
type Report struct {
	Sent     int
	Statuses map[int]int   // answers by status; 0 is none, as when the request never ended
	Slowest  time.Duration // until an answer
	Bad      []string      // requests that were answered with a status of 500 and above, or not in time
}

// String is one line of figures.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests, slowest %v;", r.Sent, r.Slowest.Round(time.Millisecond))
	statuses := make([]int, 0, len(r.Statuses))
	for status := range r.Statuses {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		fmt.Fprintf(&b, " %d: %d", status, r.Statuses[status])
	}
	return b.String()
}

// maxWait limits the wait for a response.
const maxWait = 30 * time.Second

// workers are so many connections at a time.
const workers = 4

// Send sends n mutated copies of requests to an address, each over a separate connection. The same seed sends
// the same requests.
func Send(ctx context.Context, addr string, requests []string, n int, seed uint64) Report {
	report := Report{Statuses: map[int]int{}}
	// Some copies stay unchanged, so that mutated requests find existing state.
	mutants := mutate.Mutator{Words: tokens, Least: 0, Most: 3, Repeats: 2000}
	for _, request := range requests {
		mutants.Seeds = append(mutants.Seeds, []byte(request))
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for worker := range uint64(workers) {
		random := rand.New(rand.NewPCG(seed, worker)) //nolint:gosec // the same each time
		group.Go(func() {
			for range n / workers {
				request := string(mutants.Mutant(random))
				began := time.Now()
				status, err := ask(ctx, addr, request)
				took := time.Since(began)
				mu.Lock()
				report.Sent++
				report.Statuses[status]++
				report.Slowest = max(report.Slowest, took)
				if err != nil || status >= 500 && !ownAnswers[status] {
					report.Bad = append(report.Bad, fmt.Sprintf("%d %v: %.1000q", status, err, request))
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return report
}

// ownAnswers are net/http's own responses to an unknown transfer encoding or HTTP version.
var ownAnswers = map[int]bool{http.StatusNotImplemented: true, http.StatusHTTPVersionNotSupported: true}

// ask returns the status of the response, or 0 without one.
func ask(ctx context.Context, addr, request string) (int, error) {
	socket, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = socket.Close() }()
	if err := socket.SetDeadline(time.Now().Add(maxWait)); err != nil {
		return 0, err
	}
	_, _ = io.WriteString(socket, request) // the server may have seen enough
	if tcp, ok := socket.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	response, err := http.ReadResponse(bufio.NewReader(socket), nil)
	if err != nil {
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // ReadResponse wraps nothing
			return 0, err
		}
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, nil
}

// tokens are what parsers care for.
var tokens = []string{
	"%", "%00", "%2f", "%zz", "/", "//", "..", "?", "&", "=", "$", "\x00", "\xff", "\r\n", "\n", ":", ";", ",", "\"", "'", "<", ">",
	"</", "<![CDATA[", "]]>", "&amp;", "&#0;", "&x;", "<!DOCTYPE a [<!ENTITY x \"y\">]>", "{", "}", "[", "]", "\\u0000", "1e999", "-1",
	"0", "9223372036854775808", "NaN", "-0", "P1D", "P99999999999D", "é", "😀", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
	"Host: x\r\n", "Authorization: SharedKey a:b\r\n", "Authorization: SharedAccessSignature sr=a&sig=b&se=c&skn=d\r\n",
	"comp=list", "comp=acl", "comp=metadata", "messages", "head", "$DeadLetterQueue", "/subscriptions/", "/rules/", "If-Match: *\r\n",
}

// Alarms is a log that keeps the lines that report a defect. It reads the text format of log/slog.
type Alarms struct {
	mu    sync.Mutex
	lines []string
}

// Write takes a line.
func (a *Alarms) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic")) || bytes.Contains(line, []byte("level=ERROR")) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lines = append(a.lines, string(line))
	}
	return len(line), nil
}

// Logger writes all levels to the alarms.
func (a *Alarms) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Lines returns the retained lines.
func (a *Alarms) Lines() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}

// Heap is the number of bytes in use.
func Heap() uint64 {
	runtime.GC() //nolint:revive // exclude garbage
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

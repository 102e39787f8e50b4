package consoletest

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"time"
)

// Has checks that a page has texts, also across line ends, and does not have those after an exclamation mark.
func (w *Harness) Has(page string, texts ...string) {
	w.T.Helper()
	line := strings.Join(strings.Fields(page), " ")
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if found := strings.Contains(page, text) || strings.Contains(line, text); found == not {
			w.T.Errorf("the page has %q: %t in %.3000s", text, found, page)
		}
	}
}

// HasNone checks that a page has none of some texts.
func (w *Harness) HasNone(page string, texts ...string) {
	w.T.Helper()
	for _, text := range texts {
		w.Has(page, "!"+text)
	}
}

// Wants checks the status of an answer, and that it has texts.
func (w *Harness) Wants(status int, r Reply, texts ...string) {
	w.T.Helper()
	if r.Status != status {
		w.T.Errorf("the status is %d, want %d: %.3000s", r.Status, status, r.Body)
	}
	w.Has(r.Body, texts...)
}

// Event is an event of a live answer.
type Event struct{ Name, ID, Data string }

// Stream reads the events of a live answer.
type Stream struct {
	Close func()

	world *Harness
	lines *bufio.Scanner
	late  *time.Timer
}

// Follow requests a live answer. Headers are "Name: value".
func (w *Harness) Follow(path string, headers ...string) *Stream {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	w.T.Cleanup(cancel)
	late := time.AfterFunc(Patience, cancel)
	res := w.send(ctx, http.DefaultClient, http.MethodGet, path, "", headers) //nolint:bodyclose // Close does
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		w.T.Fatalf("%s: %d", path, res.StatusCode)
	}
	s := &Stream{func() { cancel(); _ = res.Body.Close() }, w, bufio.NewScanner(res.Body), late}
	s.lines.Buffer(nil, 64<<20)
	w.T.Cleanup(s.Close)
	return s
}

// Next returns the next event of a name whose data has a text; "" matches any.
func (s *Stream) Next(name, text string) (e Event) {
	s.world.T.Helper()
	s.late.Reset(Patience)
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "id":
			e.ID = value
		case "event":
			e.Name = value
		case "data":
			e.Data += value + "\n"
		case "":
			if e.Name != "" && (name == "" || name == e.Name) && strings.Contains(e.Data, text) {
				return e
			}
			e = Event{}
		}
	}
	s.world.T.Fatalf("the events ended before %s with %q: %v", name, text, s.lines.Err())
	return e
}

package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// ticking puts jobs that run each second.
func ticking(t *testing.T, s *stage.Stage, n int) {
	t.Helper()
	for i := range n {
		must(t, s.Put(t.Context(), "default", fmt.Sprintf("tick-%d", i), map[string]any{
			"recurrence": map[string]any{"frequency": "second", "interval": 1},
			"action":     map[string]any{"type": "http", "request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo/tick"}},
		}))
	}
}

// lines are the sequences of the lines of the page, the newest first.
func lines(t *testing.T, page *tab.Tab) []int {
	t.Helper()
	all, err := tab.Eval[[]int](page, "[...document.querySelectorAll('#attempts [data-sequence]')].map((e) => Number(e.dataset.sequence))")
	must(t, err)
	return all
}

// missed is how many the page says that it does not have.
func missed(t *testing.T, page *tab.Tab) int {
	t.Helper()
	n, err := tab.Eval[int](page, "[...document.querySelectorAll('#attempts [data-missed]')].reduce((sum, e) => sum + Number(e.dataset.missed), 0)")
	must(t, err)
	return n
}

// recorded are the sequences of the history from one on up to another, by the API.
func recorded(t *testing.T, s *stage.Stage, from, to int) (all []int) {
	t.Helper()
	for path := "/history"; path != ""; {
		var page struct {
			Value []struct {
				Properties struct {
					Sequence int `json:"sequence"`
				} `json:"properties"`
			} `json:"value"`
			NextLink string `json:"nextLink"`
		}
		must(t, json.Unmarshal([]byte(api(t, s, http.MethodGet, path, nil)), &page))
		for _, one := range page.Value {
			if n := one.Properties.Sequence; n >= from && n <= to {
				all = append(all, n)
			} else if n < from {
				return all
			}
		}
		path = strings.TrimPrefix(page.NextLink, s.HTTP)
	}
	return all
}

const isPaused = "document.querySelector('.live-state').dataset.state === 'paused'"

// TestLiveStandsStill has the list wait for the pointer, the focus and the button, and go on without a loss. The button says what
// it does next, and the page is paused by it only.
func TestLiveStandsStill(t *testing.T) {
	s := own(t)
	ticking(t, s, 3)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/live"), page.Await("document.querySelectorAll('#attempts li').length > 6"), page.Text(".live-state", "Live"))
	first := slices.Min(lines(t, page))
	for _, how := range []struct {
		name       string
		stop, goOn func()
		state, do  string
	}{
		{"pointer", func() { must(t, page.Point("#attempts li:nth-child(2)")) }, func() { must(t, page.Point("")) }, "held", "Pause"},
		{"focus", func() { must(t, page.Press("j", "j")) }, func() {
			_, err := tab.Eval[bool](page, "document.activeElement.blur() ?? true")
			must(t, err)
		}, "held", "Pause"},
		{"button", func() { must(t, page.Click("[data-pause]")) }, func() { must(t, page.Click("[data-pause]")) }, "paused", "Resume"},
	} {
		how.stop()
		must(t, page.Await(fmt.Sprintf("document.querySelector('.live-state').dataset.state === %q", how.state)), page.Text("[data-pause]", how.do))
		still := lines(t, page)
		must(t, page.Await("Number(document.querySelector('[data-waiting] b').textContent) >= 6"))
		if now := lines(t, page); !slices.Equal(now, still) {
			t.Errorf("%s: the list went on from %v to %v", how.name, still[:3], now[:3])
		}
		how.goOn()
		must(t, page.Await("document.querySelector('.live-state').dataset.state === 'live'"), page.Text("[data-pause]", "Pause"))
		must(t, page.Await(fmt.Sprintf("document.querySelectorAll('#attempts [data-sequence]').length >= %d", len(still)+6)))
	}
	must(t, page.Click("[data-pause]"), page.Await(isPaused)) // so that it does not go on while it is looked at
	got := lines(t, page)
	if want := recorded(t, s, first, got[0]); !slices.Equal(got, want) || missed(t, page) != 0 {
		t.Errorf("the page has %v, and the history %v", got, want)
	}
}

// TestLiveFailuresOnce has a run fail while its error action waits: the line of the attempt becomes that of the run.
func TestLiveFailuresOnce(t *testing.T) {
	s := own(t)
	url, let := gate(t)
	action := func(uri string, more map[string]any) map[string]any {
		a := map[string]any{
			"type": "http", "request": map[string]any{"method": "GET", "uri": uri}, "retryPolicy": map[string]any{"retryType": "none"},
		}
		maps.Copy(a, more)
		return a
	}
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/live"), page.Text(".live-state", "Live"), s.Put(t.Context(), "default", "fails", map[string]any{
		"action": action(s.HTTP+"/echo/status/500", map[string]any{"errorAction": action(url, nil)}),
	}))
	must(t, page.Text("#attempts .state.failed", "failed"))
	let()
	must(t, page.Text("#attempts .state.faulted", "faulted"), page.Await("document.querySelectorAll('#attempts li').length === 2"))
	must(t, page.Await("document.querySelectorAll('#attempts .state.failed').length === 0"), page.Text("#attempts", "500 Internal Server Error: {"))
}

// hide puts a page aside, or has it looked at again: one that is hidden ends its connection.
func hide(t *testing.T, page *tab.Tab, hidden bool) {
	t.Helper()
	_, err := tab.Eval[bool](page, fmt.Sprintf(`(() => {
		Object.defineProperty(document, 'hidden', {configurable: true, get: () => %t});
		return document.dispatchEvent(new Event('visibilitychange'));
	})()`, hidden))
	must(t, err)
}

// TestLiveComesBack cuts the connection, and lets it come again.
func TestLiveComesBack(t *testing.T) {
	s := own(t)
	ticking(t, s, 3)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/live"), page.Await("document.querySelectorAll('#attempts li').length > 3"))
	first := slices.Min(lines(t, page))
	for range 3 {
		hide(t, page, true)
		before := lines(t, page)[0]
		must(t, s.Await(t.Context(), func() bool { return len(recorded(t, s, before+1, 1<<30)) >= 6 }))
		if now := lines(t, page)[0]; now != before {
			t.Errorf("a page that is hidden goes on from %d to %d", before, now)
		}
		hide(t, page, false)
		must(t, page.Await(fmt.Sprintf("Number(document.querySelector('#attempts [data-sequence]').dataset.sequence) >= %d", before+6)))
	}
	must(t, page.Click("[data-pause]"), page.Await(isPaused))
	got := lines(t, page)
	if want := recorded(t, s, first, got[0]); !slices.Equal(got, want) {
		t.Errorf("the page has %v, and the history %v", got, want)
	}
}

// TestLiveDays has a heading above the first line of each day, also when lines come on top.
func TestLiveDays(t *testing.T) {
	s := own(t)
	ticking(t, s, 1)
	page := open(t, s.HTTP, tab.Look{})
	const days = "[...document.querySelectorAll('#attempts [data-day]')]"
	must(t, page.Go("/console/live"), page.Await(`document.querySelectorAll('#attempts li').length > 2 && `+days+`.length === 1`))
	must(t, page.Await(`(() => {
		const lines = [...document.querySelectorAll('#attempts li')];
		for (const line of lines) line.querySelector('.at time').dateTime = '2026-01-01T12:00:00Z';
		return lines.length;
	})()`))
	must(t, page.Await(days+`.length === 2 && `+days+`[0].matches(':first-child')`))
	must(t, page.Await(`getComputedStyle(`+days+`[1], '::before').content === '"Thursday, 1 January 2026"'`))
}

// TestLiveFlood has hundreds of attempts end in a second: the page has a bounded number of lines, tells of the others, and a
// filter typed meanwhile shows what it is for.
func TestLiveFlood(t *testing.T) {
	s := own(t)
	ticking(t, s, 500)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/live"))
	_, err := tab.Eval[bool](page, `(() => {
		window.longest = 0;
		new PerformanceObserver((l) => { for (const e of l.getEntries()) window.longest = Math.max(window.longest, e.duration); }).observe({type: 'longtask', buffered: true});
		return true;
	})()`)
	must(t, err, page.Await("document.querySelectorAll('#attempts [data-missed]').length > 0"))
	must(t, page.Await("document.querySelectorAll('#attempts > li').length === 500"))
	for range 5 {
		if n, err := tab.Eval[int](page, "document.querySelectorAll('#attempts > li').length"); err != nil || n > 500 {
			t.Errorf("the page has %d lines (%v)", n, err)
		}
		newest := lines(t, page)[0]
		must(t, page.Await(fmt.Sprintf("Number(document.querySelector('#attempts [data-sequence]').dataset.sequence) > %d", newest+100)))
	}
	longest, err := tab.Eval[float64](page, "window.longest")
	must(t, err)
	t.Logf("the longest task of the browser took %.0f ms", longest)
	must(t, page.Click("[data-pause]"), page.Await(isPaused))
	got := lines(t, page)
	// All that ended between the oldest and the newest line are there, or counted.
	if n := got[0] - got[len(got)-1] + 1; n > len(got)+missed(t, page) {
		t.Errorf("%d of %d are told of by %d lines and %d", len(got)+missed(t, page), n, len(got), missed(t, page))
	}
	must(t, page.Click("[data-pause]"), page.Fill("#job", "tick-7"), page.Press("\r"), page.Await(
		"[...document.querySelectorAll('#attempts .job > a')].length > 1 && [...document.querySelectorAll('#attempts .job > a')].every((a) => a.textContent === 'default/tick-7')",
	), page.Await("location.search.includes('job=tick-7')"))
	newest := lines(t, page)[0]
	must(t, page.Await(fmt.Sprintf("Number(document.querySelector('#attempts [data-sequence]').dataset.sequence) > %d", newest)))
}

package index

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// rankedIndex returns an index with jobs that run next, and ran last, at random, so that some have the same.
func rankedIndex(jobs int) *Index {
	x, r := indexOf(jobs), rand.New(rand.NewPCG(5, 6))
	soon := time.Now().Add(time.Hour).Unix()
	i := 0
	for j := range x.jobs.all() {
		j.state = enabled
		j.next = (soon + r.Int64N(int64(max(jobs/2, 1)))) * 1000
		j.last = r.Int64N(int64(max(jobs/2, 1)))
		j.ended = endedAs(scheduler.LastOutcomes[r.IntN(len(scheduler.LastOutcomes))])
		j.does = unique.Make(call{Address: fmt.Sprintf("host-%d.example", i%50)})
		i++
	}
	return x
}

// TestRankIsASort turns pages in every order, forwards and back: they are what a sort of all gives.
func TestRankIsASort(t *testing.T) {
	x := rankedIndex(2000)
	for _, order := range []scheduler.JobOrder{scheduler.OrderByName, scheduler.OrderByNext, scheduler.OrderByLast} {
		for _, descending := range []bool{false, true} {
			q := &scheduler.JobQuery{Order: order, Descending: descending, Text: "B-0"}
			switch order {
			case scheduler.OrderByLast:
				q.Text, q.Outcome = "", scheduler.OutcomeFaulted
			case scheduler.OrderByName:
				q.Text = ""
			case scheduler.OrderByNext:
			}
			all := x.Rank(q, nil, false, 2000, false)
			compare := func(a, b Hit) int {
				c := cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(a.Key.Job, b.Key.Job))
				if order == scheduler.OrderByName && descending {
					return -c
				}
				return c
			}
			if n := len(all.Hits); n < 200 || n != all.Count || all.Unread > 0 || !slices.IsSortedFunc(all.Hits, compare) {
				t.Fatalf("%s, descending %t: %d of %d, %d unread", order, descending, n, all.Count, all.Unread)
			}
			checkPages(t, x, q, all.Hits)
		}
	}
}

func checkPages(t *testing.T, x *Index, q *scheduler.JobQuery, all []Hit) {
	t.Helper()
	const size = 7
	var forwards, backwards []Hit
	var at *Place
	for more := true; more; {
		page := x.Rank(q, at, false, size, false)
		forwards, more = append(forwards, page.Hits...), page.More
		if len(page.Hits) == 0 {
			break
		}
		last := page.Hits[len(page.Hits)-1]
		at = &Place{last.Value, last.Key}
	}
	if !slices.Equal(forwards, all) {
		t.Errorf("%+v: %d forwards of %d", q, len(forwards), len(all))
	}
	for more := true; more; {
		page := x.Rank(q, at, true, size, false)
		backwards, more = append(slices.Clip(page.Hits), backwards...), page.More
		if len(page.Hits) == 0 {
			break
		}
		at = &Place{page.Hits[0].Value, page.Hits[0].Key}
	}
	if !slices.Equal(backwards, all[:len(all)-1]) {
		t.Errorf("%+v: %d backwards of %d", q, len(backwards), len(all)-1)
	}
}

// TestTextsAreFound finds in names, labels, targets and collections, in any letter case, and not over the border of two names.
func TestTextsAreFound(t *testing.T) {
	x := New(Config{})
	put := func(collection, job, address string, labels ...scheduler.Label) {
		x.put(scheduler.Key{Collection: collection, Job: job}, 1, &scheduler.Summary{
			State: scheduler.Disabled, Address: address, Labels: labels, Updated: time.Now().Add(-time.Hour),
		})
	}
	put("Billing", "Invoice-EU", "api.example.com:8443")
	put("Billing", "invoice-us", "ns/Orders", scheduler.Label{Name: "team", Value: "Größe"})
	put("ops", "abc", "")
	put("ops", "def", "")
	for text, want := range map[string]string{
		"invoice": "Billing/Invoice-EU Billing/invoice-us", "VOICE-e": "Billing/Invoice-EU", "EXAMPLE.com": "Billing/Invoice-EU",
		"ns/ord": "Billing/invoice-us", "GRÖSSE": "", "größ": "Billing/invoice-us", "GRÖßE": "Billing/invoice-us", "TEAM=g": "Billing/invoice-us",
		"cd": "", "bc": "ops/abc", "ops": "", "OPS/": "ops/abc ops/def", "PS/d": "ops/def", "/": "Billing/Invoice-EU Billing/invoice-us ops/abc ops/def",
		"billing/invoice-u": "Billing/invoice-us", "a/b/c": "", "\xff": "",
	} {
		q := &scheduler.JobQuery{Text: text}
		var got []string
		for _, h := range x.Rank(q, nil, false, 10, false).Hits {
			got = append(got, h.Key.String())
		}
		hits, _, _ := x.Find(q, scheduler.Key{}, 0, 10)
		if strings.Join(got, " ") != want || len(hits) != len(got) {
			t.Errorf("%q: %v, and found %v; want %s", text, got, hits, want)
		}
	}
}

// TestTargetsAreFound finds the jobs that call a target, and not those whose name, label or address has its name.
func TestTargetsAreFound(t *testing.T) {
	x := New(Config{})
	for name, target := range map[string]string{
		"a": "api.example:443", "b": "api.example:8443", "c": "my.api.example:443", "api.example": "x.example:80", "e": "bus.example", "f": "",
	} {
		x.put(scheduler.Key{Collection: "default", Job: name}, 1, &scheduler.Summary{
			State: scheduler.Disabled, Action: "Http", Address: "api.example", Target: target, Updated: time.Now().Add(-time.Hour),
			Labels: []scheduler.Label{{Name: "calls", Value: "api.example"}},
		})
	}
	for target, want := range map[string]string{
		"api.example": "a b", "API.example:443": "a", "api.example:80": "", "example": "", "bus.example": "e", "bus.example:443": "",
	} {
		for _, kind := range []string{"", "http"} {
			q := &scheduler.JobQuery{Target: target, Action: kind}
			ranking := x.Rank(q, nil, false, 10, false)
			hits, _, _ := x.Find(q, scheduler.Key{}, 0, 10)
			var got []string
			for i, h := range ranking.Hits {
				if got = append(got, h.Key.Job); !h.Sure || hits[i].Key != h.Key {
					t.Errorf("%s: %+v, and found %+v", target, h, hits[i])
				}
			}
			if strings.Join(got, " ") != want || len(hits) != len(got) || ranking.Count != len(got) {
				t.Errorf("%s: %v of %d; want %s", target, got, ranking.Count, want)
			}
		}
	}
	if hits, _, _ := x.Find(&scheduler.JobQuery{Target: "api.example", Action: "fax"}, scheduler.Key{}, 0, 10); len(hits) > 0 {
		t.Errorf("of another type: %v", hits)
	}
}

// BenchmarkRank makes a page of a million jobs.
func BenchmarkRank(b *testing.B) {
	x := rankedIndex(1_000_000)
	for _, test := range []struct {
		name string
		q    scheduler.JobQuery
	}{
		{"all by name", scheduler.JobQuery{}},
		{"all by name, descending", scheduler.JobQuery{Descending: true}},
		{"all by next run", scheduler.JobQuery{Order: scheduler.OrderByNext}},
		{"all by last run, descending", scheduler.JobQuery{Order: scheduler.OrderByLast, Descending: true}},
		{"text in names", scheduler.JobQuery{Text: "B-0077"}},
		{"text in labels", scheduler.JobQuery{Text: "O77"}},
		{"text nowhere", scheduler.JobQuery{Text: "nowhere"}},
		{"outcome", scheduler.JobQuery{Outcome: scheduler.OutcomeFaulted, Order: scheduler.OrderByLast, Descending: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				x.Rank(&test.q, nil, false, 50, false)
			}
		})
	}
}

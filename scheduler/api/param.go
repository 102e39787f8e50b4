package api

import (
	"slices"
	"strconv"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// Param is a query parameter.
type Param struct {
	Name    string
	Kind    Kind
	Text    string
	Min     int      // of a Number
	Max     int      // of a Number; 0: no limit
	Default int      // of a Number; 0: none
	Words   []string // of a Word: its values

	Page bool // it is of a page only, not of a live tail
	Tail bool // it is of a live tail only
	HTTP bool // requests over NATS do not have it
}

// Kind is the type of a parameter.
type Kind int

// The kinds.
const (
	Text     Kind = iota
	Flag          // true or false
	Number        // a whole number
	Sequence      // the sequence of a record
	Instant       // a time (RFC 3339)
	Word          // one of some words
)

// Description is the parameter's text with its default.
func (p *Param) Description() string {
	if p.Default == 0 {
		return p.Text
	}
	return p.Text + "; default: " + strconv.Itoa(p.Default)
}

// Parameters of several operations.
var (
	dryRun       = Param{Name: "dryRun", Kind: Flag, Text: "check everything and write nothing"}
	editing      = []Param{{Name: "strict", Kind: Flag, Text: "warnings are errors"}, dryRun}
	ofCollection = Param{Name: "collection", Text: "with the rights on that collection only"}

	page = []Param{
		{
			Name: "$top", Kind: Number, Min: 1, Max: v1.MaxPage, Default: v1.MaxPage, Page: true,
			Text: "how many entries the page has at most",
		},
		{Name: "$skip", Kind: Number, Page: true, Text: "how many entries to skip before it"},
		{Name: "$skiptoken", Page: true, Text: "where the page begins: the value in a nextLink"},
	}
	search = append(slices.Clone(page),
		Param{Name: "$filter", Text: "state eq enabled|disabled|completed|faulted|damaged|paused"},
		Param{Name: "labelSelector", Text: "a label selector, as in Kubernetes: team=billing,env!=prod"},
		Param{Name: "prefix", Text: "prefix of the names"},
		Param{Name: "actionType", Text: "type of the action, such as Http"},
		Param{Name: "target", Text: "target of the action: host:port, or a host for all of its ports"},
		Param{Name: "nextAfter", Text: "the next run is then or later: an instant, or a length of time from now on, such as 24h"},
		Param{Name: "nextBefore", Text: "the next run is before this time: an instant or a length of time"},
		Param{
			Name: "text", Text: "part of a name, a label (name=value) or a target (host, queue, topic, subject), in any letter case",
		},
		Param{
			Name: "lastOutcome", Text: "outcome of the last run: completed, failed, faulted, skipped, postponed or never",
		},
	)
	runs = []Param{
		{Name: "days", Kind: Number, Min: 1, Max: 366, Default: 30, Text: "how far ahead"},
		{Name: "max", Kind: Number, Min: 1, Max: 10_000, Default: 1000, Text: "how many runs at most"},
	}
	planned = []Param{
		{Name: "hours", Kind: Number, Min: 1, Max: forecast.MaxHours, Default: forecast.DefaultHours, Text: "how far ahead"},
		{Name: "from", Kind: Instant, Text: "where it begins; default: now"},
		{Name: "collection", Text: "only the jobs of that collection"},
		{
			Name: "proposals", Kind: Number, Max: forecast.MaxProposals, Default: forecast.DefaultProposals,
			Text: "how many edits it proposes at most",
		},
	}
	follow = []Param{
		{Name: "follow", Kind: Flag, HTTP: true, Text: "a live tail instead of a page"},
		{Name: "after", Kind: Sequence, Tail: true, Text: "of a live tail: the sequence after which it begins; default: from now on"},
	}
	history = slices.Concat(page, []Param{
		{Name: "$filter", Text: v1.HistoryFilterForm},
		{Name: "uid", Text: "only records of the job with that uid, and not of an earlier job of the same name"},
		{Name: "earlier", Kind: Flag, Text: "also records of earlier jobs of the name"},
	}, follow, []Param{{
		Name: "as", Kind: Word, Words: []string{"ndjson", "sse"}, Tail: true, HTTP: true, Text: "the form of a live tail",
	}})
	published = append(slices.Clone(page),
		Param{Name: "name", Text: "only events of that name"},
		Param{Name: "since", Kind: Instant, Text: "only events stored at that time or later"},
	)
	changes = slices.Concat(page, []Param{
		{Name: "kind", Kind: Word, Words: words(audit.Kinds), Text: "only changes to such objects"},
		{Name: "who", Text: "only changes by the caller of that name"},
		{Name: "op", Kind: Word, Words: audit.Ops, Text: "only such changes"},
		{Name: "since", Kind: Instant, Text: "only changes at that time or later"},
		{Name: "until", Kind: Instant, Page: true, Text: "only changes before that time"},
	}, follow)
)

func words[T ~string](from []T) []string {
	all := make([]string, len(from))
	for i, word := range from {
		all[i] = string(word)
	}
	return all
}

package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

// full has every field.
var full = audit.Entry{
	Time: time.Date(2026, 3, 2, 9, 0, 0, 5, time.UTC), Kind: audit.Job, Op: "put", Collection: "c", Job: "j", Name: "n",
	By: audit.By{Name: `al"ice`, ID: "k3v9", Via: "token", Address: "192.0.2.7"}, Claim: "<x>", Result: "updated", OldRevision: 2, Revision: 3,
	UID: "u", Generation: 4, State: scheduler.Enabled, Occurrence: "o", SpecSequence: 5, Phase: audit.Begun, Begun: 6,
	Error: "Conflict", Rebuilt: true,
}

// TestEntryIsEncodedAsJSONDoes compares Encode with encoding/json, and decodes the result.
func TestEntryIsEncodedAsJSONDoes(t *testing.T) {
	changed := full
	changed.Changed = []string{"a.b"}
	for _, e := range []audit.Entry{full, changed, {Time: full.Time, Kind: audit.Secret, Op: "delete", Name: "s"}} {
		data, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(data)); diff != "" {
			t.Error(diff)
		}
		e.Sequence = 9
		got, err := audit.Decode(9, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&e, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := audit.Decode(1, []byte("{")); err == nil {
		t.Error("half an entry was read")
	}
}

func TestEntryNamesWhatWasChanged(t *testing.T) {
	for _, test := range []struct {
		entry audit.Entry
		want  string
	}{
		{audit.Entry{Kind: audit.Job, Collection: "c", Job: "j"}, "c/j"},
		{audit.Entry{Kind: audit.Collection, Collection: "c"}, "collection c"},
		{audit.Entry{Kind: audit.Secret, Name: "s"}, "secret s"},
	} {
		if got := test.entry.Target(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestClipKeepsRunes clips a long text between two runes.
func TestClipKeepsRunes(t *testing.T) {
	for lead := range 4 {
		text := strings.Repeat("a", lead) + strings.Repeat("€", audit.MaxText)
		if got := audit.Clip(text); !utf8.ValidString(got) || !strings.HasPrefix(text, got) || len(got) < audit.MaxText-2 {
			t.Errorf("%d bytes, valid %t", len(got), utf8.ValidString(got))
		}
	}
}

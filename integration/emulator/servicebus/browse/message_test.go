package browse_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// section is a section of a message: of sequence (0x76) or value (0x77).
func section(code byte, value any) []byte { return amqp.Append([]byte{0x00, 0x53, code}, value) }

// TestBodies shows each kind of body.
func TestBodies(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		raw  []byte
		want browse.Body // without Raw
	}{
		"none":  {nil, browse.Body{Kind: browse.NoBody}},
		"data":  {amqp.AppendData(nil, []byte{0, 0xff}), browse.Body{Kind: browse.DataBody, Data: [][]byte{{0, 0xff}}, Size: 2}},
		"empty": {amqp.AppendData(nil, nil), browse.Body{Kind: browse.DataBody, Data: [][]byte{{}}}},
		"sections": {
			amqp.AppendData(amqp.AppendData(nil, []byte("ab")), []byte("c")),
			browse.Body{Kind: browse.DataBody, Data: [][]byte{[]byte("ab"), []byte("c")}, Size: 3},
		},
		"text":   {section(0x77, "<b>"), browse.Body{Kind: browse.ValueBody, Type: "string", Text: "<b>"}},
		"null":   {section(0x77, nil), browse.Body{Kind: browse.ValueBody, Type: "null"}},
		"number": {section(0x77, uint64(7)), browse.Body{Kind: browse.ValueBody, Type: "ulong", Text: "7"}},
		"map": {
			section(0x77, amqp.Map{{Key: "a", Value: amqp.List{int32(1), "x\"y", true, nil}}}),
			browse.Body{Kind: browse.ValueBody, Type: "map", Text: "{\n  \"a\": [\n    1,\n    \"x\\\"y\",\n    true,\n    null\n  ]\n}"},
		},
		"sequences": {
			append(section(0x76, amqp.List{int64(1)}), section(0x76, amqp.List{"two"})...),
			browse.Body{Kind: browse.SequenceBody, Type: "list", Text: "[\n  1,\n  \"two\"\n]"},
		},
		"large": {section(0x77, large), browse.Body{Kind: browse.ValueBody}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, queue("q"))
			w.raw(append(amqp.AppendProperties(nil, amqp.Properties{MessageID: "id"}), test.raw...))
			got := w.one("q", browse.Active).Body
			if test.want.Kind != browse.DataBody {
				test.want.Size = int64(len(test.raw))
			}
			if !bytes.Equal(got.Raw, test.raw) {
				t.Errorf("the encoding is %x", got.Raw[:min(len(got.Raw), 64)])
			}
			got.Raw = nil
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDeepBody shows a value that is nested, or that becomes long as text: in part.
func TestDeepBody(t *testing.T) {
	w := open(t, queue("q"))
	var long amqp.List
	for range 100_000 {
		long = append(long, "12345678")
	}
	w.raw(section(0x77, long[:60_000]))
	if got := w.one("q", browse.Active).Body; len(got.Text) > 300<<10 || !strings.Contains(got.Text, "…") || got.Type != "list" {
		t.Errorf("it is %s, of %d bytes", got.Type, len(got.Text))
	}
}

// TestTypes sends a property of each type that a form has, and reads the same.
func TestTypes(t *testing.T) {
	w := open(t, queue("q"))
	values := map[string]string{
		"string": "text \u202e", "boolean": "true", "int": "-1", "long": "9223372036854775807", "double": "0.1",
		"timestamp": "2026-11-23T17:00:00.001Z", "uuid": "0193c8a1-1111-7000-8000-000000000001", "byte": "-128", "short": "-32768",
		"ubyte": "255", "ushort": "65535", "uint": "4294967295", "ulong": "18446744073709551615", "float": "1.5", "char": "é",
		"symbol": "sym", "binary": "00ff", "timespan": "1h30m0.0000001s", "null": "",
	}
	var d browse.Draft
	for _, kind := range browse.Types() {
		d.Properties = append(d.Properties, browse.Property{Name: "p " + kind, Type: kind, Value: values[kind]})
	}
	if len(values) != len(d.Properties) {
		t.Errorf("there are %d types", len(d.Properties))
	}
	w.send("q", d)
	if diff := gocmp.Diff(d.Properties, w.one("q", browse.Active).Properties); diff != "" {
		t.Error(diff)
	}
}

// TestWrongProperties refuses what is no value of its type, and says which property it is, in words that are not those of a library.
func TestWrongProperties(t *testing.T) {
	w := open(t, queue("q"))
	for kind, test := range map[string]struct {
		values []string
		want   string // of the first value
	}{
		"boolean": {[]string{"maybe", "", "2"}, `"maybe" is neither true nor false`},
		"int":     {[]string{"one", "", "2147483648", "1.5"}, `"one" is not a number of the type int`},
		"byte":    {[]string{"128"}, `"128" is too large or too small for the type byte`},
		"ubyte":   {values: []string{"-1", "256"}}, "ulong": {values: []string{"18446744073709551616"}},
		"double": {values: []string{"one"}}, "float": {values: []string{"1e40"}}, "timestamp": {values: []string{"now"}},
		"timespan": {[]string{"1 hour"}, `"1 hour" is not a timespan such as 1h30m`},
		"binary":   {[]string{"zz", "0"}, `"zz" is not hex digits, two for each byte`},
		"uuid":     {values: []string{"1", ""}}, "char": {values: []string{"", "ab", "\xff\xff"}}, "map": {values: []string{"{}"}}, "house": {values: []string{""}},
	} {
		for i, value := range test.values {
			d := browse.Draft{Properties: []browse.Property{{Name: "good"}, {Name: "bad", Type: kind, Value: value}}}
			wrong := w.Send("q", d)
			want := `property "bad": `
			if i == 0 {
				want += test.want
			}
			if wrong == nil || !strings.HasPrefix(wrong.Error(), want) {
				t.Errorf("%s %q: %v", kind, value, wrong)
			}
		}
	}
	if got := w.texts(browse.Active); len(got) != 0 {
		t.Errorf("%d were sent", len(got))
	}
}

// TestBury makes a dead letter of a message that was deferred, which receivers of dead letters then get.
func TestBury(t *testing.T) {
	w := open(t, queue("q"))
	w.send("q", bodies("deferred")...)
	w.take("q", 1, &broker.Outcome{Kind: broker.Defer})
	must.Do(w.t, w.DeadLetter("q", 1, "late", "by hand"))
	if m := w.one("q", browse.Dead); m.Reason != "late" || m.Description != "by hand" || m.Sequence != 1 || m.Held {
		t.Errorf("the dead letter is %+v", m)
	}
	w.take("q/$deadletterqueue", 1, &broker.Outcome{Kind: broker.Complete})
	for _, part := range []browse.Part{browse.Active, browse.Deferred, browse.Dead} {
		if page, err := w.Peek(browse.Query{Path: "q", Part: part, Most: 1}); err != nil || len(page.Messages) != 0 {
			t.Errorf("%s has %d messages: %v", part, len(page.Messages), err)
		}
	}
}

// TestParts has a message in each part, and shows each there alone.
func TestParts(t *testing.T) {
	w := open(t, queue("q"))
	w.send("q", bodies("deferred", "dead", "held", "waiting")...)
	w.send("q", browse.Draft{Body: []byte("later"), Scheduled: time.Now().Add(time.Hour)})
	w.take("q", 1, &broker.Outcome{Kind: broker.Defer})
	w.deadLetter(1)
	w.take("q", 1, nil)
	for part, want := range map[browse.Part]string{
		browse.Active: "[held waiting]", browse.Deferred: "[deferred]", browse.Scheduled: "[later]", browse.Dead: "[dead]", browse.Transfer: "[]",
	} {
		if got := fmt.Sprint(w.texts(part)); got != want {
			t.Errorf("%s: %s, want %s", part, got, want)
		}
	}
	dead := w.one("q", browse.Dead)
	if dead.Reason != "why" || dead.Description != "because" || dead.Part != browse.Dead {
		t.Errorf("the dead letter is %+v", dead)
	}
	if later := w.one("q", browse.Scheduled); later.Due.IsZero() || later.Part != browse.Scheduled {
		t.Errorf("the scheduled one is %+v", later)
	}
	held, err := w.Message("q", browse.Active, 3)
	if err != nil || !held.Held || held.LockedUntil.IsZero() {
		t.Errorf("the held one is %+v, %v", held, err)
	}
	if err := w.Delete("q", browse.Active, 3); !browse.IsHeld(err) {
		t.Errorf("the held one is deleted: %v", err)
	}
	must.Do(w.t, w.Delete("q", browse.Active, 4))
	if _, err := w.Message("q", browse.Active, 4); !browse.IsMissing(err) {
		t.Errorf("the deleted one is there: %v", err)
	}
	if _, err := w.Message("none", browse.Active, 1); !browse.IsMissing(err) {
		t.Errorf("there is a queue: %v", err)
	}
}

// TestPeek reads pages, searches, and looks at one session.
func TestPeek(t *testing.T) {
	const total = 700
	w := open(t, queue("q"))
	for i := range total {
		d := browse.Draft{Body: []byte("body " + strconv.Itoa(i)), SessionID: []string{"a", "b", ""}[i%3]}
		if i == 650 {
			d.Properties = []browse.Property{{Name: "Needle", Type: "string", Value: "HAYSTACK"}}
		}
		w.send("q", d)
	}
	read := func(q browse.Query) (numbers []int64) {
		t.Helper()
		for pages := 0; ; pages++ {
			page, err := w.Peek(q)
			if err != nil || pages > total {
				t.Fatalf("page %d: %v", pages, err)
			}
			for _, m := range page.Messages {
				numbers = append(numbers, m.Sequence)
			}
			if page.Next == 0 {
				return numbers
			}
			q.From = page.Next
		}
	}
	if got := read(browse.Query{Path: "q", Part: browse.Active, Most: 33}); len(got) != total || !slices.IsSorted(got) {
		t.Errorf("%d messages", len(got))
	}
	if got := read(browse.Query{Path: "q", Part: browse.Active, Most: 33, Newest: true}); len(got) != total || got[0] != total || got[total-1] != 1 ||
		!slices.IsSortedFunc(got, func(a, b int64) int { return cmp.Compare(b, a) }) {
		t.Errorf("%d messages, the newest first: %v", len(got), got[:min(len(got), 5)])
	}
	if got := read(browse.Query{Path: "q", Part: browse.Active, From: 3, Newest: true}); fmt.Sprint(got) != "[3 2 1]" {
		t.Errorf("from 3 down: %v", got)
	}
	for text, want := range map[string]string{"haystack": "[651]", "needle": "[651]", "BODY 699": "[700]", "13": "13", "nothing": "[]", ".*": "[]"} {
		got := read(browse.Query{Path: "q", Part: browse.Active, Text: text})
		if text == "13" { // a number finds the message of that number, too
			if !slices.Contains(got, 13) || !slices.Contains(got, 14) {
				t.Errorf("13: %v", got)
			}
			continue
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q finds %v, want %s", text, got, want)
		}
	}
	if got := read(browse.Query{Path: "q", Part: browse.Active, Session: new("b"), Most: 10}); len(got) != 233 || got[0] != 2 || got[1] != 5 {
		t.Errorf("session b has %d messages: %v", len(got), got[:min(len(got), 5)])
	}
	if got := read(browse.Query{Path: "q", Part: browse.Active, Session: new("")}); len(got) != 0 {
		t.Errorf("messages without a session are of the one without a name: %d", len(got))
	}
	if got := read(browse.Query{Path: "q", Part: browse.Active, Session: new("b"), Text: "body 1"}); fmt.Sprint(got[:3]) != "[2 11 14]" {
		t.Errorf("session b with a text: %v", got)
	}
}

// TestSystem shows what a sender sets, and ids that are no text.
func TestSystem(t *testing.T) {
	w := open(t, queue("q"))
	id := amqp.UUID{1, 2, 3}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	raw := amqp.AppendHeader(nil, amqp.Header{Priority: 9, TTL: time.Hour})
	raw = amqp.AppendMessageAnnotations(raw, amqp.Map{{Key: amqp.Symbol("x-opt-partition-key"), Value: "p"}, {Key: amqp.Symbol("x-own"), Value: int32(7)}})
	raw = amqp.AppendProperties(raw, amqp.Properties{
		MessageID: id, CorrelationID: uint64(5), Subject: "label", To: "to", ReplyTo: "back", ContentType: "t", ContentEncoding: "gzip",
		GroupID: "s", HasGroupID: true, ReplyToGroupID: "rs", UserID: []byte("me"), Creation: created,
	})
	w.raw(amqp.AppendData(raw, []byte("x")))
	m := w.one("q", browse.Active)
	got := []any{
		m.MessageID, m.CorrelationID, m.Subject, m.To, m.ReplyTo, m.ContentType, m.ContentEncoding, m.SessionID, m.HasSession,
		m.ReplyToSessionID, string(m.UserID), m.Creation, m.TTL, m.Priority, m.Durable, m.PartitionKey, fmt.Sprint(m.Annotations),
	}
	want := []any{
		amqp.IDString(id), "5", "label", "to", "back", "t", "gzip", "s", true, "rs", "me", created, time.Hour, 9, false, "p",
		"[{x-opt-partition-key string p} {x-own int 7}]",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

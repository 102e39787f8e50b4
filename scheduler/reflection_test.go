package scheduler_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// texts are random bytes, including those that JSON or encoding/json escapes, and invalid UTF-8.
func texts() *rapid.Generator[string] {
	pieces := []string{
		"\"", "\\", "/", "<", ">", "&", "'", "\x00", "\x1f", "\x7f", "\b", "\f", "\n", "\r", "\t", "\u2027", "\u2028", "\u2029",
		"\u202a", "\ufffd", "ß", "😀", "\x80", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "plain", "",
	}
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }))
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(p []string) string { return strings.Join(p, "") })
}

// TestEncodersWriteWhatReflectionDoes checks that batons and records are encoded byte for byte as by encoding/json, and
// decoded without it.
func TestEncodersWriteWhatReflectionDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, zone := texts(), rapid.SampledFrom([]*time.Location{time.UTC, time.FixedZone("", 5*3600+1800), time.FixedZone("", -3600)})
		b := batons().Draw(t, "baton")
		b.UID = text.Draw(t, "uid")
		b.Due, b.Suspect, b.GaveUp = b.Due.In(zone.Draw(t, "zone")), rapid.Bool().Draw(t, "strayed"), rapid.Bool().Draw(t, "gave up")
		if b.Failed != nil {
			b.Failed.Message, b.Failed.Summary = text.Draw(t, "message"), text.Draw(t, "summary")
		}
		if rapid.Bool().Draw(t, "event") {
			b.Cause = &scheduler.Cause{Event: text.Draw(t, "topic"), Key: text.Draw(t, "key"), Since: b.Due, Sequences: []uint64{1, 1 << 63}}
			b.Events, b.Arrived = json.RawMessage(`[{"data":"]}\\\""}]`), []string{text.Draw(t, "arrived")}
		}
		written := b.Encode()
		if want, err := scheduler.BatonByReflection(&b); err != nil || !bytes.Equal(written, want) {
			t.Fatalf("a baton is stored as\n%s\nand not as\n%s, %v", written, want, err)
		}
		if !scheduler.ReadsBaton(written) {
			t.Fatalf("reading %s takes encoding/json", written)
		}
		r := recordsOf(b).Draw(t, "record")
		for _, to := range []*string{&r.ID, &r.Occurrence, &r.Message, &r.Summary, &r.Headers, &r.Response, &r.Type, &r.Target, &r.Path, (*string)(&r.Reason)} {
			*to = text.Draw(t, "text")
		}
		r.FaultedAt, r.Cause = b.Due, b.Cause
		written, err := r.Encode()
		if want, wrong := scheduler.RecordByReflection(&r); err != nil || wrong != nil || !bytes.Equal(written, want) {
			t.Fatalf("a record is stored as\n%s, %v\nand not as\n%s, %v", written, err, want, wrong)
		}
		if !scheduler.ReadsRecord(written) {
			t.Fatalf("reading %s takes encoding/json", written)
		}
	})
}

// TestEncodersWriteAnyCharacter checks each character separately.
func TestEncodersWriteAnyCharacter(t *testing.T) {
	var all []string
	for c := range 0x3000 {
		all = append(all, string(rune(c)))
	}
	for c := range 256 {
		all = append(all, string([]byte{byte(c)}), string([]byte{'a', byte(c), 'b'}))
	}
	for _, text := range all {
		b := scheduler.Baton{UID: text, Nominal: at("09:00:00"), Due: at("09:00:00")}
		written := b.Encode()
		if want, err := scheduler.BatonByReflection(&b); err != nil || !bytes.Equal(written, want) {
			t.Errorf("%q is written as %s, and not as %s, %v", text, written, want, err)
		}
		mustReadAlike(t, written)
	}
}

// TestEncodersRefuseLateYears checks that 9999 is the last year that JSON can express.
func TestEncodersRefuseLateYears(t *testing.T) {
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, r := range map[string]scheduler.Record{
		"dueTime": {Outcome: scheduler.OutcomeSkipped, Due: late}, "resume": {Resume: late}, "last": {Progress: scheduler.Progress{Last: late}},
	} {
		if data, err := r.Encode(); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s of the year 10000 is written as %s, %v", name, data, err)
		}
	}
}

// mustReadAlike compares a decoder with encoding/json.
func mustReadAlike(t *testing.T, data []byte) {
	t.Helper()
	b, err := scheduler.DecodeBaton(data)
	want, wrong := scheduler.ReadBatonByReflection(data)
	if !reflect.DeepEqual(b, want) || fmt.Sprint(err) != fmt.Sprint(wrong) {
		t.Errorf("the baton %q is read as\n%+v, %v\nand not as\n%+v, %v", data, b, err, want, wrong)
	}
	r, err := scheduler.DecodeRecord(data)
	wantRecord, wrong := scheduler.ReadRecordByReflection(data)
	if !reflect.DeepEqual(r, wantRecord) || fmt.Sprint(err) != fmt.Sprint(wrong) {
		t.Errorf("the record %q is read as\n%+v, %v\nand not as\n%+v, %v", data, r, err, wantRecord, wrong)
	}
}

// storedSeeds are stored batons and records.
func storedSeeds(tb testing.TB) [][]byte {
	tb.Helper()
	var seeds [][]byte
	eventful := least
	eventful.Cause, eventful.Events = &scheduler.Cause{Event: "default.a", Key: "k"}, json.RawMessage(`[{"sequence":1,"data":[{}]}]`)
	eventful.Ledger = &scheduler.Ledger{}
	for _, b := range []scheduler.Baton{least, fullest, eventful} {
		for _, b.Kind = range anyKind {
			seeds = append(seeds, b.Encode())
		}
	}
	odd := whole
	odd.Message, odd.Response, odd.Duration = "a \"<b>\"\r\n\u2028 ß \x00\xff", "\x00\xff", -1500*time.Millisecond
	odd.Progress.Merged = []int64{math.MaxInt64, math.MinInt64}
	for _, r := range []scheduler.Record{skipOnly, whole, odd, typical()} {
		data := must.Get(r.Encode())(tb)
		seeds = append(seeds, data)
	}
	return seeds
}

// TestDecodersReadWhatReflectionDoes checks that a modified baton or record is decoded as by encoding/json, or rejected
// with the same error.
func TestDecodersReadWhatReflectionDoes(t *testing.T) {
	seeds := storedSeeds(t)
	random := rand.New(rand.NewPCG(12, 5)) // the same texts each time
	n := 20_000
	if bubble.RaceDetector {
		n /= 10
	}
	for range n {
		mustReadAlike(t, mutated(random, seeds))
		if t.Failed() {
			return
		}
	}
}

// mutated changes a text in a few places.
func mutated(random *rand.Rand, seeds [][]byte) []byte {
	pick := func() []byte { return seeds[random.IntN(len(seeds))] }
	pieces := []string{
		",", ":", "{", "}", "[", "]", `"`, `\`, `\u2028`, `\ud800`, `\ud83d\ude00`, `\u003C`, `\/`, `\'`, "\x00", "\xff", "ß", " ", "\n", "null", "true", "false", "0", "-", ".", "e9",
		"-0", "01", "1.5", "99999999999999999999", `"a"`, `"rev":1`, `,"rev":1`, `,"REV":1`, `,"new":{"a":[1]}`, `,"seen":null`, `,"failed":null`, `,"failed":{}`,
		`,"engine":{}`, `,"merged":[]`, `,"merged":[1,2,3]`, "2026-03-02T09:00:00Z", "2026-02-30T09:00:00Z", "2026-03-02T09:00:00+01:00", "2026-03-02t09:00:00z",
	}
	text := slices.Clone(pick())
	for range 1 + random.IntN(3) {
		from := random.IntN(len(text) + 1)
		to := from + random.IntN(min(len(text)-from, 8)+1)
		var piece []byte
		switch random.IntN(5) {
		case 0: // something goes
		case 1:
			piece, to = []byte(pieces[random.IntN(len(pieces))]), from
		case 2:
			piece = []byte(pieces[random.IntN(len(pieces))])
		case 3: // a part of another
			other := pick()
			begin := random.IntN(len(other))
			piece = other[begin : begin+random.IntN(min(len(other)-begin, 60))]
		default: // a member, or some, where others are
			members := bytes.SplitAfter(pick(), []byte(","))
			begin := random.IntN(len(members))
			piece = bytes.Join(members[begin:begin+1+random.IntN(len(members)-begin)], nil)
			from = bytes.LastIndexByte(text[:from], ',') + 1
			to = from
		}
		text = slices.Concat(text[:from], piece, text[to:])
	}
	return text
}

// TestForeignMembers checks that fields of a later version are ignored.
func TestForeignMembers(t *testing.T) {
	b, err := scheduler.DecodeBaton([]byte(with(fullestBaton, `,"later":{"deep":[null,{"rev":1}]}`)))
	if diff := gocmp.Diff(fullest, b); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	data := must.Get(whole.Encode())(t)
	r, err := scheduler.DecodeRecord([]byte(with(string(data), `,"later":{"deep":[null,{"version":1}]}`)))
	if diff := gocmp.Diff(&whole, r); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// FuzzStored checks that decoding agrees with encoding/json.
func FuzzStored(f *testing.F) {
	for _, seed := range storedSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { mustReadAlike(t, data) })
}

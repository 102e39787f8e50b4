package backup_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/backup"
)

var nominal = time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC)

// sample returns a backup with an entry of each kind.
func sample(tb testing.TB) ([]byte, []*backup.Entry) {
	tb.Helper()
	entries := []*backup.Entry{
		{Kind: backup.Collection, Name: "default", Data: []byte(`{"top":{},"properties":{}}`)},
		{Kind: backup.Secret, Name: "api-key", Data: []byte(`{"sealed":"v1.k2.abc"}`)},
		{Kind: backup.Token, Name: "k3v9x2mqpa", Data: []byte(`{"id":"k3v9x2mqpa"}`)},
		{
			Kind: backup.Job, Name: "default/report", Data: []byte(`{"properties":{"a":{"$sealed":"v1.k1.abc"},"b":"<&>"}}`),
			Batons: []backup.Baton{
				{Baton: scheduler.Baton{UID: "UVXYZ234", Revision: 7, Nominal: nominal, Due: nominal}, Running: true},
				{
					Baton:    scheduler.Baton{UID: "U", Revision: 7, Nominal: nominal, Due: nominal, Kind: scheduler.Detached},
					Detached: scheduler.DetachedName(nominal),
				},
			},
		},
		{
			Kind: backup.Job, Name: "default/ended", Data: []byte("no JSON \x00\xff\n"),
			Records: []*scheduler.Record{{
				Job: scheduler.Key{Collection: "default", Job: "ended"}, ID: "default/ended@x#0", Outcome: scheduler.OutcomeCompleted,
				Nominal: nominal, Due: nominal, Started: nominal, Ended: nominal,
			}},
		},
		{Kind: backup.Job, Name: "default/line", Data: []byte("{\n}")},
	}
	var file bytes.Buffer
	w := must.Get(backup.NewWriter(&file, backup.Header{Made: nominal, Version: "1.2.3", Prefix: "carillon", Lanes: 2, Schema: 2}))(tb)
	for _, e := range entries {
		for again := range 2 { // the second one is ignored
			if wrote, err := w.Write(e); err != nil || wrote == (again == 1) {
				tb.Fatalf("%s: written: %t, %v", e.Name, wrote, err)
			}
		}
	}
	must.Get(w.Close())(tb)
	return file.Bytes(), entries
}

// read reads a whole backup.
func read(file []byte) (entries []*backup.Entry, s backup.Summary, err error) {
	r, err := backup.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, s, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries, r.Summary(), nil
		}
		if err != nil {
			return nil, s, err
		}
		entries = append(entries, e)
	}
}

// records compares records by their identity.
var records = cmp.Comparer(func(a, b *scheduler.Record) bool { return a.ID == b.ID && a.Job == b.Job && a.Ended.Equal(b.Ended) })

func TestReadBack(t *testing.T) {
	file, want := sample(t)
	got, summary, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, records); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(backup.Summary{
		Counts: backup.Counts{Collections: 1, Secrets: 1, Tokens: 1, Jobs: 3}, Batons: 2, Keys: []string{"k1", "k2"},
	}, summary); diff != "" {
		t.Error(diff)
	}
	header, _, err := backup.Verify(bytes.NewReader(file))
	if want := (backup.Header{Format: 1, Made: nominal, Version: "1.2.3", Prefix: "carillon", Lanes: 2, Schema: 2}); err != nil || header != want {
		t.Errorf("the header is %+v, %v", header, err)
	}
}

// TestDamagedFile truncates a file at every position and changes every byte: it is rejected or has the same content,
// for example if the byte is a compression parameter.
func TestDamagedFile(t *testing.T) {
	file, want := sample(t)
	for n := range file {
		if _, _, err := read(file[:n]); err == nil {
			t.Errorf("cut off after %d of %d bytes: it is taken", n, len(file))
		}
		changed := bytes.Clone(file)
		changed[n] ^= 0x10
		if got, _, err := read(changed); err == nil && !cmp.Equal(want, got, records) {
			t.Errorf("with another byte %d it is taken, with other entries", n)
		}
	}
	if _, _, err := read(append(bytes.Clone(file), 0)); err == nil {
		t.Error("with a byte behind it, it is taken")
	}
	if _, _, err := read(append(bytes.Clone(file), file...)); err == nil {
		t.Error("with a second one behind it, it is taken")
	}
}

func unpack(tb testing.TB, file []byte) string {
	tb.Helper()
	d := must.Get(zstd.NewReader(nil))(tb)
	defer d.Close()
	text := must.Get(d.DecodeAll(file, nil))(tb)
	return string(text)
}

func pack(tb testing.TB, text string) []byte {
	tb.Helper()
	e := must.Get(zstd.NewWriter(nil))(tb)
	return e.EncodeAll([]byte(text), nil)
}

// TestHostileFile reads malicious files and files of other formats.
func TestHostileFile(t *testing.T) {
	file, _ := sample(t)
	text := unpack(t, file)
	line := func(kind string) string {
		_, rest, _ := strings.Cut(text, "\n{\""+kind+"\"")
		rest, _, _ = strings.Cut(rest, "\n")
		return "{\"" + kind + "\"" + rest + "\n"
	}
	header, _, _ := strings.Cut(text, "\n")
	header += "\n"
	const planned = `{"uid":"UVXYZ234","nominal":"2000-01-02T03:04:05Z"`
	for name, test := range map[string]struct{ text, want string }{
		"nothing":             {"", "empty"},
		"no line":             {"hello", "cut off"},
		"not a backup":        {"hello\n", "it is no backup of carillon"},
		"JSON of others":      {"{}\n", "it is no backup of carillon"},
		"a later form":        {`{"carillonBackup":2,"new":true}` + "\n", "it has the form 2"},
		"a header too many":   {strings.Replace(header, "{", `{"x":1,`, 1), "the header cannot be read"},
		"no end":              {header + line("collection"), "cut off"},
		"an end of another":   {header + line("end"), "checksum"},
		"twice":               {header + line("job") + line("job"), "there twice"},
		"two things at once":  {header + `{"collection":"a","secret":"b","data":{}}` + "\n", "neither an entry nor the end"},
		"no data":             {header + `{"collection":"a"}` + "\n", "neither an entry nor the end"},
		"a member too many":   {header + `{"collection":"a","data":{},"x":1}` + "\n", "unknown field"},
		"two objects":         {header + `{"collection":"a","data":{}} {}` + "\n", "behind the object"},
		"a job's wildcard":    {header + `{"job":"default/>","data":{}}` + "\n", "must begin with a letter"},
		"a name of subjects":  {header + `{"job":"default/a.b","data":{}}` + "\n", "must not contain"},
		"a secret's wildcard": {header + `{"secret":"*","data":{}}` + "\n", "must begin with a letter"},
		"a token's wildcard":  {header + `{"token":"a.>","data":{}}` + "\n", "no id of a token"},
		"a collection's name": {header + `{"collection":"a b","data":{}}` + "\n", "must not contain"},
		"batons of a secret":  {header + `{"secret":"a","data":{},"batons":[{"body":` + planned + `}}]}` + "\n", "only jobs"},
		"a baton of nothing":  {header + `{"job":"a/b","data":{},"batons":[{"body":{}}]}` + "\n", "no instant"},
		"two own batons": {
			header + `{"job":"a/b","data":{},"batons":[{"body":` + planned + `}},{"body":` + planned + `}}]}` + "\n",
			"two batons",
		},
		"a detached wildcard": {
			header + `{"job":"a/b","data":{},"batons":[{"detached":">","body":` + planned + `,"oneOff":true}}]}` + "\n",
			"does not match the instant",
		},
		"records of nothing": {
			header + `{"job":"a/b","data":{},"records":[` + strings.Repeat(`{"version":2},`, 1_000_000) + `{"version":2}]}` + "\n",
			"more than 100 batons",
		},
		"no list":      {header + `{"job":"a/b","data":{},"batons":{}}` + "\n", "something else than a list"},
		"a long end":   {header + `{"end":{"keys":[` + strings.Repeat(`"",`, 1_000_000) + `""]}}` + "\n", "its end has"},
		"a long line":  {header + `{"collection":"a","data":{"x":"` + strings.Repeat("x", 17<<20) + `"}}` + "\n", "longer than"},
		"a long value": {header + `{"collection":"a","data":{"x":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n", "its data are of"},
	} {
		_, _, err := read(pack(t, test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if _, ok := errors.AsType[*backup.FormatError](err); !ok {
			t.Errorf("%s: %T", name, err)
		}
	}
}

// zeros is a reader of zero bytes.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	n := min(len(p), int(*z))
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	*z -= zeros(n)
	return n, nil
}

// TestBomb reads a small file that expands to 256 MB, and one that requires a window of 1 GB.
func TestBomb(t *testing.T) {
	var file bytes.Buffer
	e := must.Get(zstd.NewWriter(&file, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20)))(t)
	size := zeros(1 << 28)
	must.Get(io.Copy(e, &size))(t)
	must.Do(t, e.Close())
	if _, _, err := read(file.Bytes()); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("256 MB of zeros in %d bytes: %v", file.Len(), err)
	}
	if _, _, err := read([]byte("\x28\xb5\x2f\xfd\x00\xa8")); err == nil {
		t.Error("a window of a gigabyte is taken")
	}
}

// FuzzReader: no file causes a panic, and a valid one is written back unchanged.
func FuzzReader(f *testing.F) {
	file, _ := sample(f)
	f.Add(file, false)
	f.Add([]byte(unpack(f, file)), true)
	f.Fuzz(func(t *testing.T, data []byte, text bool) {
		if text {
			data = pack(t, string(data))
		}
		entries, summary, err := read(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := must.Get(backup.NewWriter(&again, backup.Header{}))(t)
		for _, e := range entries {
			if wrote, err := w.Write(e); err != nil || !wrote {
				t.Fatalf("%s %s is read, and not written: %v", e.Kind, e.Name, err)
			}
		}
		if s, err := w.Close(); err != nil || !cmp.Equal(s, summary) {
			t.Errorf("%+v is written as %+v, %v", summary, s, err)
		}
	})
}

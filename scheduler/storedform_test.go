package scheduler_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// formless is a stored job without the mark of its form.
func formless(data []byte) []byte {
	_, rest, _ := bytes.Cut(data, []byte(","))
	return append([]byte("{"), rest...)
}

// trusting records whether the parsed documents are trusted.
type trusting struct {
	scheduler.ActionReader

	trusted *bool
}

func (r trusting) ReadAction(kind string, o *document.Object) scheduler.Action {
	*r.trusted = o.Reader().Trusted
	return r.ActionReader.ReadAction(kind, o)
}

// plainSealer stores secrets in the form of sealed ones.
type plainSealer struct{}

func (plainSealer) Seal(_ scheduler.Key, v document.Value) (document.Value, error) {
	return v.Seal("", func(_, text string) (string, error) { return text, nil })
}

func (plainSealer) Unseal(_ scheduler.Key, v document.Value) document.Value {
	return v.Unseal("", func(_, sealed string) (string, error) { return sealed, nil })
}

// storedCorpus holds the stored forms of every job of the source documents and of the examples, by name.
func storedCorpus(tb testing.TB, actions scheduler.ActionReader) map[string][]byte {
	tb.Helper()
	corpus := map[string][]byte{}
	add := func(name string, v document.Value) {
		now := time.Date(2024, 1, 1, 0, 0, 0, 123456789, time.UTC)
		reading := scheduler.DefinitionDecoder{
			Limits: scheduler.Limits{MinRetryInterval: time.Second}, Actions: actions, Key: key, UID: uid, Now: now,
		}
		def, err := reading.Document(v).Definition()
		if err != nil {
			return // it shows a mistake
		}
		j, err := scheduler.NewJob(key, uid, def, now, uint64(len(corpus)))
		if err != nil {
			return
		}
		switch len(corpus) % 4 {
		case 1:
			j.Progress = scheduler.Progress{Number: 1, Executions: 2, Last: now, Merged: []int64{4}}
		case 2:
			j.State, j.BegunGen = scheduler.Disabled, 1
		}
		corpus[name] = must.Get(j.Encode(plainSealer{}))(tb)
	}
	for _, row := range sourceRows(tb) {
		for _, text := range []string{row.text, row.meant} {
			if v, err := row.job(strings.TrimSuffix(text, "\n")); err == nil {
				add(row.name+"/"+text, v)
			}
		}
	}
	files := must.Get(filepath.Glob("../examples/*/*.*"))(tb)
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(tb)
		if v, err := document.Parse(data); err == nil {
			add(file, v)
		}
	}
	if len(corpus) < 100 {
		tb.Fatalf("the corpus has %d jobs", len(corpus))
	}
	return corpus
}

// TestTrustedReadsAlike checks that trusting a stored job has the same result as validating it: definition, plan,
// actions and stored form.
func TestTrustedReadsAlike(t *testing.T) {
	var trusted bool
	registry := builtin.New(builtin.Config{})
	t.Cleanup(registry.Close)
	actions := trusting{registry, &trusted}
	for name, data := range storedCorpus(t, actions) {
		got, err := scheduler.DecodeJob(key, 7, data, actions, plainSealer{})
		if err != nil || !trusted {
			t.Errorf("%s: trusted: %t: %v", name, trusted, err)
			continue
		}
		want, err := scheduler.ReadValidated(key, 7, data, actions, plainSealer{})
		if err == nil {
			want, err = want.Compiled()
		}
		if err != nil || trusted {
			t.Errorf("%s, validated: trusted: %t: %v", name, trusted, err)
			continue
		}
		if at := difference(reflect.ValueOf(got), reflect.ValueOf(want)); at != "" {
			t.Errorf("%s: %s differs:\n got %+v\nwant %+v", name, at, got.Def, want.Def)
		}
		if again, err := got.Encode(plainSealer{}); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: stored as\n%s, and again as\n%s, %v", name, data, again, err)
		}
		checkCompact(t, name, data, got, actions)
	}
}

// checkCompact checks that the compact form of a job, in the memory of a worker, has the same document and stored form.
func checkCompact(t *testing.T, name string, data []byte, want *scheduler.Job, actions scheduler.ActionReader) {
	t.Helper()
	got, err := scheduler.ReadJobWith(noKeeper{}, key, 7, data, actions, plainSealer{})
	if err != nil {
		t.Errorf("%s, compact: %v", name, err)
		return
	}
	if scheduler.Compact(got.Def) == document.MayHoldSealed(data) || !got.Equals(want.Def) || got.Def.Document().String() != want.Def.Document().String() {
		t.Errorf("%s: compact: %t, %s", name, scheduler.Compact(got.Def), got.Def.Document())
	}
	if again, err := got.Encode(plainSealer{}); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%s: stored as\n%s, and again in compact form as\n%s, %v", name, data, again, err)
	}
}

// noKeeper is a [scheduler.DefinitionKeeper] that keeps nothing.
type noKeeper struct{}

func (noKeeper) Kept([]byte) *scheduler.Definition  { return nil }
func (noKeeper) Keep([]byte, *scheduler.Definition) {}

// TestChangedByteIsFound changes every byte of stored jobs, one at a time: the job must be damaged. Without the race
// detector, it changes each byte in three ways.
func TestChangedByteIsFound(t *testing.T) {
	registry := builtin.New(builtin.Config{})
	t.Cleanup(registry.Close)
	for name, data := range storedCorpus(t, registry) {
		if document.MayHoldSealed(data) {
			continue // see TestChangedSecretIsLocked
		}
		for i := range data {
			bits := []byte{1, 0x20, 0x80}
			if bubble.RaceDetector {
				bits = bits[i%len(bits):][:1]
			}
			for _, bit := range bits {
				mutant := bytes.Clone(data)
				mutant[i] ^= bit
				_, err := scheduler.ReadJob(key, 7, mutant, registry, nil)
				if _, damaged := errors.AsType[*scheduler.DamagedError](err); !damaged {
					t.Fatalf("%s: byte %d of %s is read: %v", name, i, mutant, err)
				}
			}
		}
	}
}

// TestRotationKeepsTrust replaces the sealed texts of a stored job, as a key rotation does.
func TestRotationKeepsTrust(t *testing.T) {
	var trusted bool
	registry := builtin.New(builtin.Config{})
	t.Cleanup(registry.Close)
	actions := trusting{registry, &trusted}
	secrets := 0
	for name, data := range storedCorpus(t, actions) {
		if !document.MayHoldSealed(data) {
			continue
		}
		secrets++
		const sealed = `{"$sealed":"`
		rotated := bytes.ReplaceAll(data, []byte(sealed), []byte(sealed+"ab"))
		if _, err := scheduler.ReadJob(key, 7, rotated, actions, lockedSealer{}); err != nil || !trusted {
			t.Errorf("%s: trusted: %t: %v", name, trusted, err)
		}
		moved := bytes.Replace(data, []byte(sealed), []byte(`{"$sealec":"`), 1)
		if _, err := scheduler.ReadJob(key, 7, moved, actions, lockedSealer{}); err == nil {
			t.Errorf("%s: read with a secret that is none", name)
		}
	}
	if secrets == 0 {
		t.Error("no job of the corpus has secrets")
	}
}

// lockedSealer has no key.
type lockedSealer struct{ plainSealer }

func (lockedSealer) Unseal(_ scheduler.Key, v document.Value) document.Value {
	return v.Unseal("", func(string, string) (string, error) { return "", errors.New("no key") })
}

// TestOtherFormIsDamaged covers jobs that this version cannot have written. The error names the unknown form.
func TestOtherFormIsDamaged(t *testing.T) {
	data := must.Get(job(t, once).Encode(nil))(t)
	later := scheduler.Signed(bytes.Replace(formless(data), []byte(`"properties":{`), []byte(`"properties":{"quantum":true,"recurrence":{"frequency":"eon"},`), 1))
	for want, stored := range map[string][]byte{
		"a later version of Carillon may have written it": bytes.Replace(data, []byte(`{"form":"1`), []byte(`{"form":"2`), 1),
		"form: unknown":          formless(data),
		"quantum: unknown field": later,
	} {
		if _, err := scheduler.ReadJob(key, 7, stored, noActions{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", stored, err, want)
		}
	}
}

// FuzzStoredJob checks that no stored bytes cause a panic, and that trusting and validating agree: valid with the same
// result, or damaged. Only validation executes templates.
func FuzzStoredJob(f *testing.F) {
	registry := builtin.New(builtin.Config{})
	f.Cleanup(registry.Close)
	for _, data := range storedCorpus(f, registry) {
		f.Add(formless(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasPrefix(data, []byte("{")) || bytes.Contains(data, []byte("emplate")) || bytes.HasPrefix(data, []byte(`{"form"`)) {
			t.Skip()
		}
		data = scheduler.Signed(data)
		want, wantErr := scheduler.ReadValidated(key, 7, data, registry, plainSealer{})
		got, err := scheduler.ReadJob(key, 7, data, registry, plainSealer{})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: trusted: %v; validated: %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		if at := difference(reflect.ValueOf(got), reflect.ValueOf(want)); at != "" {
			t.Fatalf("%s: %s differs", data, at)
		}
	})
}

// difference returns where two values differ, "" if they are equal. It compares all fields; unlike package reflect, it
// treats functions with the same code as equal, and a nil slice as an empty one.
func difference(a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return "the type"
	}
	if !a.IsValid() {
		return ""
	}
	differ := func(where string, a, b reflect.Value) string {
		if inner := difference(a, b); inner != "" {
			return where + "/" + inner
		}
		return ""
	}
	switch a.Kind() { //nolint:exhaustive // the others are compared as they are
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer() {
			return nilness(a, b)
		}
		return difference(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if at := differ(a.Type().Field(i).Name, a.Field(i), b.Field(i)); at != "" {
				return at
			}
		}
		return ""
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return "the length"
		}
		for i := range a.Len() {
			if at := differ("element", a.Index(i), b.Index(i)); at != "" {
				return at
			}
		}
		return ""
	case reflect.Map:
		if a.Len() != b.Len() {
			return "the size"
		}
		for _, k := range a.MapKeys() {
			if at := differ(k.String(), a.MapIndex(k), b.MapIndex(k)); at != "" {
				return at
			}
		}
		return ""
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if a.Pointer() != b.Pointer() {
			return "the pointer"
		}
		return ""
	}
	if !a.Equal(b) {
		return "the value"
	}
	return ""
}

func nilness(a, b reflect.Value) string {
	if a.IsNil() != b.IsNil() {
		return "what is nil"
	}
	return ""
}

package jobcache

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// storedAs is a job as this version stores it.
func storedAs(t *testing.T, name, body string) []byte {
	t.Helper()
	v, err := scheduler.ParseDocument([]byte(`{"action": {"type": "None"}, "data": {"for": "` + body + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	k := scheduler.Key{Collection: "default", Job: name}
	def, err := (&scheduler.DefinitionDecoder{Actions: noActions{}, Key: k}).Document(v).Definition()
	if err != nil {
		t.Fatal(err)
	}
	j, err := scheduler.NewJob(k, "U-"+name, def, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0)
	if err != nil {
		t.Fatal(err)
	}
	data, err := j.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDefinitionsAreShared: jobs of other names whose properties are the same have one definition in memory from the second
// on, and all else of their own; those of which there is one each leave nothing behind; and one that was changed outside is
// damaged whether its definition is kept or not.
func TestDefinitionsAreShared(t *testing.T) {
	var defs Definitions
	read := func(name, body string) *scheduler.Job {
		t.Helper()
		j, err := scheduler.ReadJobWith(&defs, scheduler.Key{Collection: "default", Job: name}, 7, storedAs(t, name, body), noActions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if j.Key.Job != name || j.UID != "U-"+name || j.Revision != 7 || j.Size == 0 || j.Plan == nil {
			t.Errorf("%s is read as %+v", name, j)
		}
		return j
	}
	for i := range 1000 {
		read(fmt.Sprint("own", i), fmt.Sprint("own", i))
	}
	if len(defs.kept) > 0 {
		t.Errorf("%d are kept that no two jobs have", len(defs.kept))
	}
	read("first", "all")
	second := read("second", "all")
	if third := read("third", "all"); third.Def != second.Def || len(defs.kept) != 1 {
		t.Errorf("%p and %p, %d kept", third.Def, second.Def, len(defs.kept))
	}
	if other := read("other", "few"); other.Def == second.Def {
		t.Error("another definition is taken for it")
	}
	wrong := bytes.Replace(storedAs(t, "wrong", "all"), []byte("U-wrong"), []byte("U-wrung"), 1)
	if j, err := scheduler.ReadJobWith(&defs, scheduler.Key{Collection: "default", Job: "wrong"}, 7, wrong, noActions{}, nil); err == nil {
		t.Errorf("a changed one is read as %+v", j)
	}
	for i := range 2 * definitionsKept {
		for range 3 {
			read(fmt.Sprint("more", i), fmt.Sprint("more", i))
		}
	}
	if n := len(defs.kept); n == 0 || n > definitionsKept {
		t.Errorf("%d are kept", n)
	}
}

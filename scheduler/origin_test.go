package scheduler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestStoredJobTellsWhereItsLastEditCameFrom checks that the origin is decoded in this version's form, and in
// equivalent JSON.
func TestStoredJobTellsWhereItsLastEditCameFrom(t *testing.T) {
	for _, origin := range []scheduler.Origin{
		{Op: "put"},
		{Op: "patch", Name: "alice", ID: "k3v9", Via: "token", Address: "192.0.2.7", Claim: "mallory", Replaces: 12},
		{Op: "put", Claim: "mallory", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Replaces: 12},
		{Op: "put", Name: `Ali"ce Müller`, Via: "oidc"}, // read by encoding/json
	} {
		j := job(t, "")
		j.Origin = origin
		data := must.Get(j.Encode(plainSealer{}))(t)
		spaced := strings.Replace(string(data), `"generation":`, `"generation": `, 1)
		for _, stored := range []string{string(data), spaced} {
			edit, ok := scheduler.StoredEdit([]byte(stored))
			if !ok || edit.UID != j.UID || edit.Generation != 1 || !edit.At.Equal(j.Updated) {
				t.Errorf("%s: %+v", stored, edit)
			}
			if diff := cmp.Diff(origin, edit.Origin); diff != "" {
				t.Error(diff)
			}
		}
	}
}

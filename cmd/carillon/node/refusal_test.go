package node_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// problems returns the places and messages of an error document.
func problems(t *testing.T, data []byte) []string {
	t.Helper()
	var doc struct {
		Error struct {
			Code    string `json:"code"`
			Details []struct {
				Path    string `json:"path"`
				Message string `json:"message"`
			} `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.Error.Code != "BadRequest" {
		t.Errorf("got %s, %v", data, err)
	}
	var all []string
	for _, d := range doc.Error.Details {
		all = append(all, d.Path+": "+d.Message)
	}
	return all
}

// TestWrongActions puts wrong actions of every type over REST, the micro service and as specs, as the action and as the
// errorAction: each problem is told with its path and what would be right, and nothing is stored.
func TestWrongActions(t *testing.T) {
	n := start(t, always)
	put := func(body string) (int, []byte) {
		status, answer := send(t, http.MethodPut, n.API+"/jobCollections/default/jobs/wrong", body)
		return status, must.Get(io.ReadAll(answer))(t)
	}
	results := must.Get(n.Conn.SubscribeSync("carillon.spec-result.>"))(t)
	all := actiontest.Refusals(t, "testdata/refused.txt")
	files := must.Get(filepath.Glob("../../../actions/*/testdata/refused.txt"))(t)
	for _, file := range files {
		all = append(all, actiontest.Refusals(t, file)...)
	}
	if len(all) < 300 {
		t.Fatalf("only %d actions", len(all))
	}
	for _, r := range all {
		body := `{"action":` + r.Action + `}`
		if len(body) > 16<<10 {
			continue // the APIs refuse such a document as a whole
		}
		status, data := put(body)
		if status != http.StatusBadRequest {
			t.Errorf("%s\ngot %d %s", r.Action, status, data)
			continue
		}
		differ := func(api string, got, want []string) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s\n%s", api, r.Action, diff)
			}
		}
		differ("REST", problems(t, data), r.Problems)

		reply := must.Get(n.Conn.Request("carillon.api.put.default.wrong", []byte(body), time.Minute))(t)
		if code := reply.Header.Get("Nats-Service-Error-Code"); code != "400" {
			t.Errorf("%s: micro service: code %s", r.Action, code)
		}
		differ("micro service", problems(t, reply.Data), r.Problems)

		must.Do(t, n.Conn.Publish("carillon.spec.put.default.wrong", []byte(body)))
		m, err := results.NextMsg(time.Minute)
		if err != nil || m.Subject != "carillon.spec-result.rejected.default.wrong" {
			t.Fatalf("%s: %+v, %v", r.Action, m, err)
		}
		differ("spec", problems(t, m.Data), r.Problems)

		_, data = put(`{"action":{"type":"http","request":{"method":"GET","uri":"http://x.example/"},"errorAction":` + r.Action + `}}`)
		inner := make([]string, len(r.Problems))
		for i, want := range r.Problems {
			inner[i] = "action.errorAction" + strings.TrimPrefix(want, "action")
		}
		differ("errorAction", problems(t, data), inner)
	}
	views, _, err := n.Node.Service().Search(t.Context(), scheduler.JobQuery{Collections: []string{scheduler.DefaultCollection}}, v1.Page{})
	if err != nil || len(views) > 0 {
		t.Errorf("stored: %v, %v", views, err)
	}
}

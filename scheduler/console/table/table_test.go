package table_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
)

// thing is the document of an item.
func thing(name string) any {
	return map[string]any{"name": name, "properties": map[string]any{"n": -1, "on": true, "list": []string{"=a"}, "at": "2026-03-02T08:00:04Z"}}
}

// get asks for a list of pages, of which the last has an error, if any.
func get(t *testing.T, query string, failed error, pages ...[]string) (status int, h http.Header, body string, err error) {
	t.Helper()
	show := func(c *frame.Request) error {
		sent, err := table.List[string, int]{
			Name: "things", Fields: []string{"name", "properties.n", "properties.on", "properties.list", "properties.at", "none.at.all"}, JSON: thing,
			Next: func(i int) ([]string, int, error) {
				switch {
				case i+1 < len(pages):
					return pages[i], i + 1, nil
				case failed != nil:
					return nil, 0, failed
				}
				return pages[i], 0, nil
			},
		}.Export(c)
		if err != nil || sent {
			return err
		}
		_, err = io.WriteString(c.Writer, "the page")
		return err
	}
	s := httptest.NewServer(frame.New(frame.Config{Sections: []frame.Section{{
		Name: "things", Routes: []frame.Route{{Method: http.MethodGet, Path: "/console/things", Right: auth.Known, Do: show}},
	}}}))
	t.Cleanup(s.Close)
	r, err := http.Get(s.URL + "/console/things" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, r.Header, string(text), err
}

func TestFiles(t *testing.T) {
	hostile := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", `a "b", c`, "two\nlines", "\u202e<script>", "", "'=1"}
	status, h, body, err := get(t, "?as=csv", nil, hostile[:3], nil, hostile[3:])
	if status != http.StatusOK || err != nil || h.Get("Content-Disposition") != `attachment; filename="carillon-things.csv"` ||
		!strings.HasPrefix(h.Get("Content-Type"), "text/csv") || !strings.HasPrefix(body, "name,properties.n,properties.on,properties.list,properties.at,none.at.all\r\n"+
		`'=1+1,-1,true,"[""=a""]",2026-03-02T08:00:04Z,`+"\r\n") {
		t.Errorf("%d %v %q (%v)", status, h, body, err)
	}
	lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	var got []string
	for _, line := range lines[1:] {
		got = append(got, line[0])
	}
	want := []string{"'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'x", `a "b", c`, "two\nlines", "\u202e<script>", "", "'=1"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s (%v)", diff, err)
	}
	for _, pages := range [][][]string{{hostile[:3], nil, hostile[3:]}, {nil}} {
		_, h, body, err = get(t, "?as=json", nil, pages...)
		var all []struct {
			Name string `json:"name"`
		}
		if wrong := json.Unmarshal([]byte(body), &all); wrong != nil || err != nil || len(all) != len(pages[0])*len(hostile)/3 || h.Get("Content-Type") != "application/json" {
			t.Errorf("%v %q (%v, %v)", h, body, wrong, err)
		}
	}
	if _, _, body, _ = get(t, "", nil); body != "the page" {
		t.Errorf("without a format: %q", body)
	}
}

// TestBroken has errors: of the first page, they are an answer; later, the file does not look complete.
func TestBroken(t *testing.T) {
	for _, format := range []string{"csv", "json"} {
		status, h, body, err := get(t, "?as="+format, scheduler.Invalid("since", "is wrong"), nil)
		if status != http.StatusBadRequest || err != nil || h.Get("Content-Disposition") != "" || !strings.Contains(body, "is wrong") {
			t.Errorf("%s: %d %v %q (%v)", format, status, h, body, err)
		}
		if _, _, body, err = get(t, "?as="+format, errors.New("gone"), []string{"a"}, nil); err == nil || !strings.Contains(body, "a") {
			t.Errorf("%s: a broken file ends as if it was complete: %q", format, body)
		}
	}
}

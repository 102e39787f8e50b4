package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
	"github.com/carillon-sched/carillon/scheduler/internal/hostile"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/store/storetest"
)

var routerSeed = flag.Uint64("router.seed", 1, "seed of the requests that TestRouter draws; 0: any")

// router is the API's handler, and what is behind it.
type router struct {
	*harness

	js      jetstream.JetStream
	handler http.Handler
	service *control.Service
}

// newRouter has the API of a scheduler that knows who asks, has some jobs, and no worker: what is written was asked for.
func newRouter(tb testing.TB) *router {
	tb.Helper()
	w := newHarness(tb)
	js, err := jetstream.New(w.nc)
	if err != nil {
		tb.Fatal(err)
	}
	s := control.New(control.Config{Store: w.store, Actions: w.actions, Secrets: w.vault, Tokens: tokens.NewKeeper(w.store.Tokens(), w.store.TokenLedger(), w.store.Now)})
	storetest.Run(tb, s.Run)
	named := func(host string) bool { return host == "carillon.test" }
	r := &router{harness: w, js: js, service: s, handler: rest.New(rest.Config{Service: s, Identify: byGrants, AllowHost: named})}
	r.plant()
	return r
}

// plant puts what requests are about, where it is not there any more.
func (w *router) plant() {
	w.t.Helper()
	const later = `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}`
	for _, step := range []struct{ path, body string }{
		{"default", ""},
		{"few", ""},
		{"full", `{"properties": {"quota": {"maxJobCount": 1}}}`},
		{"default/jobs/seven", later},
		{"few/jobs/seven", later},
		{"full/jobs/seven", later},
	} {
		got := w.ask(http.MethodPut, "/jobCollections/"+step.path, step.body, "Authorization", "Bearer admin", "If-None-Match", "*")
		if got.Code != http.StatusCreated && got.Code != http.StatusPreconditionFailed && got.Code != http.StatusConflict {
			w.t.Fatalf("PUT %s: %d %s", step.path, got.Code, got.Body)
		}
	}
}

// as asks in a role.
func (w *router) as(grants, method, target, body string) *httptest.ResponseRecorder {
	return w.ask(method, target, body, "Authorization", "Bearer "+grants)
}

// ask sends a request with headers, each followed by its value.
func (w *router) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	req.Host = "carillon.test"
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	got := httptest.NewRecorder()
	w.handler.ServeHTTP(got, req)
	return got
}

// hangingUp goes as soon as something of an answer is there that may have no end.
type hangingUp struct {
	*httptest.ResponseRecorder

	hangUp func()
}

// Flush hangs up.
func (h hangingUp) Flush() { h.hangUp() }

// judge sends the text of a request, and returns what is wrong with what becomes of it, besides the answer; nil for what is no request.
func (w *router) judge(asker context.Context, text []byte) (answer *httptest.ResponseRecorder, req *http.Request, wrong []string) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
	if err != nil {
		return nil, nil, nil
	}
	before, err := hostile.Look(w.server)
	if err != nil {
		return nil, nil, []string{err.Error()}
	}
	ctx, cancel := context.WithTimeout(asker, patience)
	defer cancel()
	req = req.WithContext(ctx)
	req.RemoteAddr = "192.0.2.7:1234"
	answer = httptest.NewRecorder()
	w.handler.ServeHTTP(hangingUp{answer, cancel}, req.Clone(ctx))
	after, err := hostile.Look(w.server)
	if err != nil {
		return answer, req, []string{err.Error()}
	}
	written, err := hostile.Written(asker, w.js, before, after)
	if err != nil {
		return answer, req, []string{err.Error()}
	}
	if answer.Code < 200 || answer.Code >= 500 || answer.Code >= 300 && answer.Code < 400 && answer.Code != http.StatusNotModified {
		wrong = append(wrong, "it is neither done nor refused")
	}
	if head, _, _ := bytes.Cut(text, []byte("\r\n\r\n")); strings.Contains(answer.Body.String(), "hunter2") && !bytes.Contains(head, []byte("hunter2")) {
		wrong = append(wrong, "it tells a secret")
	}
	// The audit trail also has what was refused, and is not waited for.
	written = slices.DeleteFunc(written, func(what string) bool { return strings.HasPrefix(what, "CARILLON_AUDIT ") })
	if len(written) > 0 && (answer.Code >= 300 || !mayChange(req)) {
		wrong = append(wrong, "it changes nothing, and yet there was written: "+strings.Join(written, ", "))
	}
	if answer.Code < 300 && mayChange(req) {
		if slices.Equal(req.Header.Values("If-Match"), []string{`"x"`}) && !isGroup(req.URL.EscapedPath()) {
			wrong = append(wrong, "it is done although its condition does not hold")
		}
		wrong = append(wrong, w.readBack(req, answer)...)
	}
	return answer, req, wrong
}

// mayChange reports whether a request that succeeds may have changed something.
func mayChange(req *http.Request) bool {
	dry := req.URL.Query().Get("dryRun")
	return req.Method != http.MethodGet && req.Method != http.MethodHead && (dry == "" || dry == "false") &&
		!strings.Contains(req.URL.Path, "/preview") && !strings.HasSuffix(req.URL.Path, "/register")
}

// isGroup reports whether a path is that of a resource group.
func isGroup(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return len(parts) == 4 && strings.EqualFold(parts[0], "subscriptions") && strings.EqualFold(parts[2], "resourceGroups")
}

// readBack compares what a request was answered with what is there then.
func (w *router) readBack(req *http.Request, answer *httptest.ResponseRecorder) (wrong []string) {
	path, query := req.URL.EscapedPath(), ""
	if version := req.URL.Query().Get("api-version"); version != "" {
		query = "?api-version=" + url.QueryEscape(version)
	}
	if req.Method == http.MethodDelete {
		switch {
		case strings.HasPrefix(path, "/tokens") || strings.HasPrefix(path, "/secrets"):
			return nil // there is no way to ask for one of them
		case isGroup(path):
			return nil // whoever names a resource group has it
		}
		if got := w.as("admin", http.MethodGet, path+query, ""); got.Code != http.StatusNotFound {
			wrong = append(wrong, fmt.Sprintf("it is still there: %d %s", got.Code, got.Body))
		}
		return wrong
	}
	var told map[string]any
	if json.Unmarshal(answer.Body.Bytes(), &told) != nil {
		return nil // it tells nothing
	}
	switch last := path[strings.LastIndex(path, "/")+1:]; {
	case last == "run" || last == "resubmit" || last == "cancel" || last == "try" || last == "try-event" || last == "replay" || last == "rotate" || last == "doctor":
		return nil
	case last == "enable" || last == "disable" || last == "pause":
		path = strings.TrimSuffix(path, "/"+last)
	case strings.HasPrefix(path, "/secrets"), strings.HasPrefix(path, "/tokens"):
		delete(told, "token")
		list := w.as("admin", http.MethodGet, "/"+strings.Split(path, "/")[1], "")
		if !holds(list.Body.Bytes(), told) {
			wrong = append(wrong, fmt.Sprintf("the list has no %s: %s", flat(told), list.Body))
		}
		return wrong
	case strings.Contains(path, "/events/"):
		got := w.ask(http.MethodGet, fmt.Sprintf("/events/%.0f", told["sequence"]), "", "Authorization", "Bearer admin")
		if !strings.Contains(got.Body.String(), fmt.Sprintf(`"name":%q,"sequence":%.0f,`, told["name"], told["sequence"])) {
			wrong = append(wrong, fmt.Sprintf("it reads back as %d %s", got.Code, got.Body))
		}
		return wrong
	case strings.HasPrefix(path, "/api/v2/"):
		path = fmt.Sprintf("/api/v2/schedules/%.0f/", told["id"])
	case req.Method == http.MethodPost:
		name, _ := told["name"].(string)
		path += "/" + name[strings.LastIndex(name, "/")+1:]
	}
	got := w.as("admin", http.MethodGet, path+query, "")
	var there map[string]any
	if err := json.Unmarshal(got.Body.Bytes(), &there); err != nil || got.Code != http.StatusOK {
		return append(wrong, fmt.Sprintf("it cannot be read back: %d %s", got.Code, got.Body))
	}
	for _, own := range []string{"warnings", "result"} { // of an edit alone
		delete(told, own)
	}
	if a, b := flat(told), flat(there); a != b {
		wrong = append(wrong, fmt.Sprintf("it reads back as\n%s\nand not\n%s", b, a))
	}
	if a, b := answer.Header().Get("ETag"), got.Header().Get("ETag"); a != "" && a != b {
		wrong = append(wrong, fmt.Sprintf("it has the ETag %s, and then %s", a, b))
	}
	return wrong
}

// holds reports whether a listing has an entry.
func holds(list []byte, entry map[string]any) bool {
	var all struct {
		Value []map[string]any `json:"value"`
	}
	_ = json.Unmarshal(list, &all)
	return slices.ContainsFunc(all.Value, func(one map[string]any) bool { return flat(one) == flat(entry) })
}

// flat is a document as a text, the same for the same.
func flat(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// mustBeWhole looks for jobs without batons, batons without jobs, and what else an edit leaves behind that is applied by half.
func (w *router) mustBeWhole() {
	w.t.Helper()
	report, err := w.service.Audit(w.t.Context(), false)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(report.Findings) > 0 {
		w.t.Errorf("something is half applied: %+v", report.Findings)
	}
}

// TestRouter sends a thousand requests, drawn at random: each is done, or refused with a status of 4xx and nothing written, and what was
// done reads back as it was answered. -router.seed=0 draws others, and CARILLON_FUZZ_TIME=10m goes on for ten minutes.
func TestRouter(t *testing.T) {
	seed := *routerSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	w := newRouter(t)
	d := &drawn{r: rand.New(rand.NewPCG(seed, 0)), routes: rest.Routes()}
	answers, spoilt := map[int]int{}, 0
	wanted := []int{200, 201, 204, 400, 401, 403, 404, 405, 409, 412, 413, 421}
	missing := func(status int) bool { return answers[status] == 0 }
	for n := range climb.Rounds(t, 1_000, func() bool { return !slices.ContainsFunc(wanted, missing) }) {
		text := d.request()
		answer, req, wrong := w.judge(t.Context(), text)
		if len(wrong) > 0 {
			t.Errorf("-router.seed=%d, request %d: %s\n%q\n%d %s", seed, n, strings.Join(wrong, "\n"), text, answer.Code, answer.Body)
		}
		if req == nil {
			spoilt++
			continue
		}
		answers[answer.Code]++
		d.learn(answer)
		if n%200 == 0 {
			w.mustBeWhole()
			w.plant()
		}
	}
	w.mustBeWhole()
	t.Logf("seed %d: %d no requests at all, then by status: %v", seed, spoilt, answers)
	for _, want := range wanted {
		if missing(want) {
			t.Errorf("none was answered with %d: %v", want, slices.Sorted(maps.Keys(answers)))
		}
	}
}

// FuzzRouter is TestRouter with requests of the fuzzer's: go test ./scheduler/rest -run='^$' -fuzz=FuzzRouter.
func FuzzRouter(f *testing.F) {
	w := newRouter(f)
	d := &drawn{r: rand.New(rand.NewPCG(1, 1)), routes: rest.Routes()}
	for _, route := range d.routes {
		f.Add([]byte(d.around(route)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if answer, _, wrong := w.judge(t.Context(), text); len(wrong) > 0 {
			t.Errorf("%s\n%q\n%d %s", strings.Join(wrong, "\n"), text, answer.Code, answer.Body)
		}
	})
}

package natsapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// ask asks the micro service and returns status and body.
func (w *harness) ask(t *testing.T, subject, body string) (status string, answer []byte) {
	t.Helper()
	m, err := w.nc.Request("carillon.api."+subject, []byte(body), patience)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	if (m.Header.Get(micro.ErrorCodeHeader) != "") != (m.Header.Get("Carillon-Status")[0] != '2') {
		t.Errorf("%s: header %v", subject, m.Header)
	}
	return m.Header.Get("Carillon-Status"), m.Data
}

// TestAPI asks for what the micro service reads for itself: names in subjects, options and documents in bodies. What an
// operation does is the same as over REST.
func TestAPI(t *testing.T) {
	w := newHarness(t)
	w.api()
	refers := strings.Replace(withPassword, `"`+secret+`"`, `{"secretRef": "door"}`, 1)
	for _, step := range []struct{ subject, body, want string }{ // want: status and parts of the answer
		{"get.default.job", "", `404 "code":"ResourceNotFound"`},
		{"put.default.job", later, `201 "name":"default/job" "state":"enabled" "nextExecutionTime":"2099-01-01T00:00:00Z"`},
		{"put.default.job", "startTime: 2099-01-01\n" + `action: {type: http, request: {uri: "http://x.example", method: get}}`, `200 "type":"Http"`},
		{"get.default.job", "ignored", `200 "id":"/jobCollections/default/jobs/job" "uri":"http://x.example"`},
		{"patch.default.job", `{"status": {}}`, `400 "path":"status"`},
		{"enable.default.job", `{"until": 1}`, `400 {"path":"until","message":"unknown field; this takes no document"}`},
		{"enable.default.job", "{}", `200 "state":"enabled"`},
		{"pause.default.job", `{"until": "2h"}`, `200 "pausedUntil":"`},
		{"collection-cancel.default", "", `200 {"canceled":[]}`},
		{"try.default.job", "", `409 this process makes no attempts`},
		{"list.default", "", `200 {"value":[{"id":"/jobCollections/default/jobs/job" ],"nextLink":null}`},
		{"list", `{"prefix": "j", "nextAfter": "-1000h", "actionType": "http", "text": "JO", "lastOutcome": "never"}`, `200 "name":"default/job" "nextLink":null`},
		{"list", `{"prefix": "k"}`, `200 {"value":[],"nextLink":null}`},
		{"list.default", `{"nextBefore": "later", "prefix": "-"}`, `400 "path":"nextBefore" "path":"prefix"`},
		{"list", `{"nextAfter": true}`, `400 "path":"nextAfter"`},
		{"list.default", `{"$top": 0, "$skip": -1, "top": 3}`, `400 "path":"$top" "path":"$skip" did you mean \"$top\"?`},
		{"list.default", `{`, `400 1:2: `},
		{"run.default.job", "now", `400 the document must be an object, not a string`},
		{"run.default.job", "", `200 {"occurrence":"default/job@`},
		{"history.default.job", `{"$filter": "status eq Failed", "earlier": true, "uid": "none"}`, `200 {"value":[],"nextLink":null}`},
		{"history.default.job", `{"$skiptoken": "job"}`, `400 "path":"$skiptoken"`},
		{"history.default.job", `{"$top": 101}`, `400 "path":"$top" 1-100`},
		{"history", `{"follow": true, "after": 1}`, `400 "path":"follow" "path":"after"`},
		{"history", `{"$filter": "endTime ge soon"}`, `400 "path":"$filter"`},
		{"follow", `{"$top": 1, "after": -1}`, `400 "path":"$top" "path":"after"`},
		{"follow.default.job", `{"$filter": "status eq Late"}`, `400 "path":"$filter"`},
		{"follow-audit", `{"until": "2099-01-01T00:00:00Z", "$filter": ""}`, `400 "path":"until" "path":"$filter"`},
		{"why.default.job", `{"at": "-2h"}`, `200 "code":"notCreated"`},
		{"why.default.job", `{"when": "now"}`, `400 "path":"when"`},
		{"forecast", "", `200 "jobs":1 "perMinute":[ "proposals":[`},
		{"forecast.default", `{"hours": 2, "proposals": 0, "from": "2098-12-31T23:30:00Z"}`, `200 "to":"2099-01-01T01:30:00Z" "runs":1,`},
		{"forecast.default", `{"hours": 169, "proposals": -1, "day": 1}`, `400 "path":"hours" "path":"proposals" "path":"day"`},
		{"forecast.my.own", "", `400 "path":"collection" must not contain '.'`},
		{"audit.default.job", "", `200 "op":"run" "op":"put" "by":{"via":"nats"} "nextLink":null`},
		{"audit.default.job", `{"op": "pause", "since": "2001-01-01T00:00:00Z"}`, `200 {"value":[{"sequence": "op":"pause"`},
		{"audit.default.job", `{"$top": 1}`, `200 "nextLink":"{\"$skiptoken\":`},
		{"audit", `{"since": "soon", "$filter": ""}`, `400 "path":"since" "path":"$filter"`},
		{"preview", later, `200 {"utc":["2099-01-01T00:00:00Z"]`},
		{"preview", "", `400 the document is empty`},
		{"delete.default.job", "", "200"},
		{"get.default.my.job", "", `400 "path":"job" must not contain '.'`},
		{"list.my.own.collection", "", `400 "path":"collection" must not contain '.'`},
		{"get.1st.x", "", `400 "path":"collection" must begin with a letter`},

		{"collection-put.c", "", `201 {"id":"/jobCollections/c" "state":"enabled"`},
		{"collection-list", "", `200 {"value":[{"id":"/jobCollections/c" {"id":"/jobCollections/default" "nextLink":null`},
		{"collection-list", `{"$top": 1}`, `200 "name":"c" "nextLink":"{\"$skip\":1,\"$top\":1}"`},
		{"collection-delete.c", `{"onlyEmpty": 1}`, `400 "path":"onlyEmpty"`},
		{"collection-delete.c", `{"onlyEmpty": true}`, `200`},
		{"collection-get.my.own.one", "", `400 "path":"collection" must not contain '.'`},

		{"secret-put.door", `{"value": "` + secret + `"}`, `201 {"name":"door"`},
		{"secret-put.back", `{"value": 1, "` + secret + ``, `400 ends`},
		{"secret-put.my.door", `{"value": "` + secret + `"}`, `400 "path":"secret" must not contain '.'`},
		{"secret-put.back", `{"value": "` + secret + `"}`, `201 {"name":"back"`},
		{"secret-list", `{"$top": 1, "$skip": 1}`, `200 {"value":[{"name":"door", ],"nextLink":null}`},
		{"put.default.job", refers, `201 {"secretRef":"door"}`},
		{"put.default.own", withPassword, `201 "username":"me"`},
		{"list.default", "", `200 "username":"me"`},
		{"secret-delete.door", `{"force": "x"}`, `400 "path":"force"`},
		{"secret-delete.door", `{"force": true}`, `200`},
		{"secret-rotate", "", `200 {"key":"k1"`},
	} {
		status, body := w.ask(t, step.subject, step.body)
		got := status + " " + string(body)
		for part := range strings.SplitSeq(step.want, " ") {
			if !strings.Contains(got, part) {
				t.Errorf("%s %s: got %s, want %s", step.subject, step.body, got, part)
			}
		}
		if strings.Contains(got, secret) {
			t.Errorf("%s: the answer shows a secret: %s", step.subject, got)
		}
	}
	if _, err := w.nc.Request("carillon.api.nothing.default.job", nil, patience); err == nil {
		t.Error("an unknown operation was answered")
	}
}

// page asks for a listing and returns the names or IDs in it, and the body that asks
// for the next page, "" when there is none.
func (w *harness) page(t *testing.T, subject, body string) (names []string, next string) {
	t.Helper()
	status, data := w.ask(t, subject, body)
	var p struct {
		Value []struct {
			Name string `json:"name"`
			ID   string `json:"id"`
		} `json:"value"`
		NextLink *string `json:"nextLink"`
	}
	if err := json.Unmarshal(data, &p); err != nil || status != "200" {
		t.Fatalf("%s %s: %s %v: %.1000s", subject, body, status, err, data)
	}
	for _, v := range p.Value {
		names = append(names, cmp.Or(v.Name, v.ID))
	}
	if p.NextLink != nil {
		next = *p.NextLink
	}
	return names, next
}

// TestPages lists more jobs than a page has, and more than a message holds.
func TestPages(t *testing.T) {
	w := newHarness(t)
	w.api()
	large := fmt.Sprintf(`{"startTime": "2099-01-01", "description": "%s", "action": {"type": "Http", "request":
		{"uri": "http://x.example", "method": "POST", "headers": {"X": "%s"}, "body": "%s"}}}`,
		strings.Repeat("x", 1000), strings.Repeat("y", 4000), strings.Repeat("z", 8000))
	var all []string
	for i := range 130 {
		body := large // a hundred of these are more than a megabyte
		if i >= 100 {
			body = later
		}
		k := scheduler.Key{Collection: "default", Job: fmt.Sprintf("j%03d", i)}
		if _, _, err := w.service.Put(w.ctx, control.Edit{Key: k, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		all = append(all, k.String())
	}
	for _, test := range []struct {
		body string
		want []string
		size int // of the first page
	}{
		{"", all, 77},
		{`{"$top": 50, "$skip": 20}`, all[20:], 50},
		{`{"$top": 65, "$filter": "state eq Enabled"}`, all, 65},
		{`{"$skip": 30, "$filter": "state eq 'enabled'"}`, all[30:], 100},
		{`{"$filter": "state eq faulted"}`, nil, 0},
		{`{"$skip": 130}`, nil, 0},
		{`{"labelSelector": "!team"}`, all, 77},
		{`{"labelSelector": "team"}`, nil, 0},
	} {
		got, next := w.page(t, "list.default", test.body)
		if len(got) != test.size {
			t.Errorf("%s: %d jobs on the first page, want %d", test.body, len(got), test.size)
		}
		for next != "" {
			var more []string
			more, next = w.page(t, "list.default", next)
			got = append(got, more...)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.body, got, test.want)
		}
	}
}

// TestOperationPages follows the links of lists whose subjects may name a collection.
func TestOperationPages(t *testing.T) {
	w := newHarness(t)
	w.api()
	w.ask(t, "put.default.job", later)
	for range 2 {
		w.ask(t, "operation-create.default", `{"verb": "disable", "jobs": ["default/job"]}`)
	}
	for _, subject := range []string{"operation-list", "operation-list.default"} {
		first, next := w.page(t, subject, `{"$top": 1}`)
		second, end := w.page(t, subject, next)
		if all, _ := w.page(t, subject, ""); len(all) != 2 || !slices.Equal(all, append(first, second...)) || end != "" {
			t.Errorf("%s: pages %v and %v of %v, then %q", subject, first, second, all, end)
		}
	}
}

// TestReplicas asks two replicas: each request is answered once, and the
// tools of micro services see both.
func TestReplicas(t *testing.T) {
	w := newHarness(t)
	w.api(func(c *natsapi.APIConfig) { c.Version = "v1.2.3-rc.1" })
	stop := w.api(func(c *natsapi.APIConfig) { c.Version = "(devel)"; c.Concurrency = 2 })
	w.await("both replicas", func() bool { return len(w.gather(t, "$SRV.INFO.carillon")) == 2 })
	inbox := w.nc.NewInbox()
	sub := must.Get(w.nc.SubscribeSync(inbox))(t)
	const requests = 200
	for range requests {
		must.Do(t, w.nc.PublishRequest("carillon.api.get.default.none", inbox, nil))
	}
	for i := range requests {
		if _, err := sub.NextMsg(patience); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
	versions, counted := map[string]bool{}, 0
	for _, data := range w.gather(t, "$SRV.STATS.carillon") {
		var s struct {
			Version   string `json:"version"`
			Endpoints []struct {
				Name string `json:"name"`
				Data struct {
					Answered int `json:"answered"`
					Errors   int `json:"errors"`
				} `json:"data"`
			} `json:"endpoints"`
		}
		must.Do(t, json.Unmarshal(data, &s))
		versions[s.Version] = true
		for _, e := range s.Endpoints {
			if e.Data.Answered != e.Data.Errors || e.Name != "get" && e.Data.Answered > 0 {
				t.Errorf("%s: %+v", e.Name, e.Data)
			}
			counted += e.Data.Answered
		}
	}
	if counted != requests || !versions["1.2.3-rc.1"] || !versions["0.0.0+devel"] {
		t.Errorf("%d of %d requests answered by %v", counted, requests, versions)
	}
	stop()
	if n := len(w.gather(t, "$SRV.PING.carillon")); n != 1 {
		t.Errorf("%d replicas after a stop", n)
	}
}

// gather returns all answers to a request that every replica answers: until
// none has come for a while.
func (w *harness) gather(t *testing.T, subject string) [][]byte {
	t.Helper()
	inbox := w.nc.NewInbox()
	sub := must.Get(w.nc.SubscribeSync(inbox))(t)
	defer func() { _ = sub.Unsubscribe() }()
	must.Do(t, w.nc.PublishRequest(subject, inbox, nil))
	var all [][]byte
	for wait := patience; ; wait = 200 * time.Millisecond {
		m, err := sub.NextMsg(wait)
		if err != nil {
			return all
		}
		all = append(all, m.Data)
	}
}

// TestHistoryPages reads more records than a message holds, while more come.
func TestHistoryPages(t *testing.T) {
	w := newHarness(t)
	w.api()
	k := scheduler.Key{Collection: "default", Job: "job"}
	if _, _, err := w.service.Put(w.ctx, control.Edit{Key: k, Body: []byte(later)}); err != nil {
		t.Fatal(err)
	}
	st := must.Get(w.store.LoadJob(w.ctx, k))(t)
	at := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	record := func(n int) {
		r := &scheduler.Record{
			Job: k, UID: scheduler.StoredIncarnation(st.Data), Outcome: scheduler.Outcomes[n%2],
			Started: at.Add(time.Duration(n) * time.Minute), Ended: at, Message: strings.Repeat("x", 20_000),
		}
		must.Do(t, w.store.Append(w.ctx, r))
	}
	n := 0
	for ; n < 90; n++ {
		record(n)
	}
	for _, subject := range []string{"history.default.job", "history.default", "history"} {
		want := n
		got, next := w.page(t, subject, "")
		if len(got) == want {
			t.Fatalf("%s: all fit into one message", subject)
		}
		for ; next != ""; n++ {
			record(n)
			var more []string
			more, next = w.page(t, subject, next)
			got = append(got, more...)
		}
		if !slices.IsSorted(got) || len(got) != want || len(slices.Compact(got)) != want { // ids of later records sort first
			t.Errorf("%s: %d records, want %d: %v", subject, len(got), want, got)
		}
	}
}

package rest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// A subscription and a resource group, and where their collections are.
const (
	subscription = "/subscriptions/623d50f1-4fa8-4e46-a967-a9214aed43ab"
	group        = subscription + "/resourceGroups/CS-SouthCentralUS-scheduler"
	managed      = group + "/providers/Microsoft.Scheduler/jobCollections"
	version      = "?api-version=2016-03-01"
)

// azure is a harness with the actions of Azure Scheduler.
func azure(t *testing.T) *harness {
	t.Helper()
	w := newHarness(t)
	w.actions = builtin.New(builtin.Config{})
	w.service = control.New(control.Config{Store: w.store, Actions: w.actions, Secrets: w.vault})
	w.serve(nil)
	return w
}

// TestManagedPaths is the life of a collection and of its jobs on the paths of the resource manager, with the statuses of
// its API.
func TestManagedPaths(t *testing.T) {
	const c, job = managed + "/jc1", managed + "/jc1/jobs/j1"
	azure(t).steps([]step{
		{"GET", managed + version, "", `200 {"value":[],"nextLink":null}`},
		{"GET", c + version, "", `404 "ResourceNotFound"|collection jc1: not found`},
		{"PUT", job + version, later, `404 collection jc1: not found; create it first`},
		{
			"PUT", c + version, `{"name": "jc1", "location": "South Central US", "tags": {"a": "b"}, "properties": {"sku": {"name": "Standard"},
				"state": "Enabled", "quota": {"maxJobCount": 50, "maxRecurrence": {"frequency": "Minute", "interval": 1}}}}`,
			`201 {"id":"` + managed + `/jc1","type":"Microsoft.Scheduler/jobCollections","name":"jc1","etag":"\"r2\"","location":"South Central US","tags":{"a":"b"},|` +
				`"sku":{"name":"Standard"}|"quota":{"maxJobCount":50,"maxRecurrence":{"frequency":"minute","interval":1}}|"state":"Enabled"`,
		},
		{"PUT", c + version, `{"id": "/else/where", "properties": {"sku": {"name": "Standard"}}}`, `200 "id":"` + managed + `/jc1"`},
		{"PATCH", c + version, `{"properties": {"quota": {"maxJobCount": 7}}}`, `200 "maxJobCount":7|"sku":{"name":"Standard"}`},
		{"PATCH", c + version, `{"id": "` + subscription + `/resourceGroups/g2/providers/Microsoft.Scheduler/jobCollections/jc1"}`, `400 "path":"id"`},
		{"PATCH", c + version, `{"id": "` + managed + `/jc1"}`, `200`},
		{"PUT", job + version, later, `201 "id":"` + managed + `/jc1/jobs/j1","type":"Microsoft.Scheduler/jobCollections/jobs","name":"jc1/j1"|"state":"enabled"`},
		{"PUT", job + version, `{"name": "jc1/j1", "properties": ` + later + `}`, `200 "name":"jc1/j1"`},
		{"PUT", job + version, `{"name": "jc2/j1", "properties": ` + later + `}`, `400 is \"jc2/j1\", but the job is put as \"jc1/j1\"`},
		{"GET", job + version, "", `200 "name":"jc1/j1"`},
		{"GET", c + "/jobs" + version, "", `200 {"value":[{"id":"` + managed + `/jc1/jobs/j1"`},
		{"GET", c + "/jobs" + version + "&$filter=state%20eq%20%27Disabled%27", "", `200 {"value":[],"nextLink":null}`},
		{"POST", c + "/disable" + version, "", `200`},
		{"GET", c + version, "", `200 "state":"Disabled"`},
		{"GET", job + version, "", `200 "state":"enabled"|collection jc1, which is disabled`},
		{"POST", c + "/enable" + version, "", `200`},
		{"GET", managed + version, "", `200 {"value":[{"id":"` + managed + `/jc1"|"state":"Enabled"|"nextLink":null}`},
		{"GET", subscription + "/providers/Microsoft.Scheduler/jobCollections" + version, "", `200 {"value":[{"id":"` + managed + `/jc1"`},
		{"PUT", c + "/jobs" + version, later, `405 "MethodNotAllowed"`},
		{"DELETE", job + version, "", `200`},
		{"GET", job + version, "", `404 job jc1/j1: not found`},
		{"DELETE", c + version, "", `200`},
		{"DELETE", c + version, "", `404 "ResourceNotFound"`},
		{"GET", managed + "/a=bcdefghijklmnopq" + version, "", `400 "path":"collection"`},
		{"GET", c + "/jobs/history" + version + "&$top=101", "", `400 "path":"$top"`},
		{"GET", c + "/history" + version + "&follow=true", "", `400 "path":"follow"`},
	})
}

// TestManagedRunsAndHistory runs a job by hand: the answer has no body, and the records are those of Azure's history.
func TestManagedRunsAndHistory(t *testing.T) {
	w := azure(t)
	w.work()
	const job = managed + "/jc1/jobs/j1"
	w.must("PUT", managed+"/jc1"+version, "")
	doc := `{"properties": {"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "` + w.target() + `", "method": "GET"}}}}`
	w.must("PUT", job+version, doc)
	for i := range 3 {
		var r reply
		w.await("the end of the run before", func() bool {
			r = w.do("POST", job+"/run"+version, "")
			return r.status != http.StatusConflict
		})
		if r.status != http.StatusOK || r.body != "" || r.header.Get("Content-Type") != "" {
			t.Errorf("run: %d %q %v", r.status, r.body, r.header)
		}
		w.await("the run", func() bool { return len(w.page(job+"/history"+version).Value) == i+1 })
	}
	l := w.page(job + "/history" + version + "&$top=2&$filter=status%20eq%20Completed")
	if len(l.Value) != 2 || l.NextLink == nil || !strings.Contains(*l.NextLink, managed) || !strings.Contains(*l.NextLink, "api-version=2016-03-01") {
		t.Fatalf("%+v", l)
	}
	rest := w.page(*l.NextLink)
	all := slices.Concat(l.Value, rest.Value)
	if len(all) != 3 || rest.NextLink != nil || all[0].ID >= all[1].ID || all[1].ID >= all[2].ID {
		t.Errorf("%+v", all)
	}
	for _, e := range all {
		id, ok := strings.CutPrefix(e.ID, job+"/history/")
		if !ok || e.Name != "jc1/j1/"+id || e.Type != "Microsoft.Scheduler/jobCollections/jobs/history" || e.Properties["status"] != "Completed" ||
			!strings.HasPrefix(e.Properties["occurrence"].(string), "jc1/j1@") {
			t.Errorf("%+v", e)
		}
	}
	if none := w.page(job + "/history" + version + "&$filter=status%20eq%20Failed"); len(none.Value) != 0 {
		t.Errorf("%+v", none)
	}
}

// TestHistoryByState asks for records of a job in a state: there are some while it has that state.
func TestHistoryByState(t *testing.T) {
	w := azure(t)
	const job = managed + "/c/jobs/j"
	w.must("PUT", managed+"/c"+version, "")
	w.must("PUT", job+version, later)
	s := scheduler.Scope{Subscription: strings.TrimPrefix(subscription, "/subscriptions/"), Group: "CS-SouthCentralUS-scheduler"}
	w.recordMany(scheduler.Key{Collection: s.Collection("c"), Job: "j"}, 3)
	for filter, want := range map[string]int{
		"state%20eq%20enabled": 3, "state%20eq%20%27Enabled%27%20and%20status%20eq%20Failed": 3, "state%20eq%20disabled": 0,
		"status%20eq%20Completed%20and%20state%20eq%20enabled": 0,
	} {
		if l := w.page(job + "/history" + version + "&$filter=" + filter); len(l.Value) != want {
			t.Errorf("%s: %d records, want %d", filter, len(l.Value), want)
		}
	}
	first := w.page(job + "/history" + version + "&$top=2&$filter=state%20eq%20enabled")
	if len(first.Value) != 2 || first.NextLink == nil || len(w.page(*first.NextLink).Value) != 1 {
		t.Errorf("%+v", first)
	}
	w.steps([]step{
		{"GET", job + "/history" + version + "&$filter=state%20eq%20late", "", `400 "path":"$filter"|state eq enabled|disabled|completed|faulted`},
		{"GET", job + "/history" + version + "&$filter=state%20eq%20enabled%20and%20state%20eq%20disabled", "", `400 "path":"$filter"`},
		{"GET", managed + "/c/jobs/none/history" + version + "&$filter=state%20eq%20enabled", "", `404`},
		{"PATCH", job + version, `{"properties":{"state":"Disabled"}}`, `200`},
		{"GET", job + "/history" + version + "&$filter=state%20eq%20enabled", "", `200 {"value":[],"nextLink":null}`},
	})
}

// TestScopesAreApart puts collections and jobs of one name into several scopes: each path leads to its own, and the short
// paths are those of the default scope. What is outside of it goes by a name with a mark there.
func TestScopesAreApart(t *testing.T) {
	w := azure(t)
	scopes := map[string]string{
		"/jobCollections": "",
		"/subscriptions/s1/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections": version,
		"/subscriptions/s2/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections": version,
		"/subscriptions/s1/resourceGroups/h/providers/Microsoft.Scheduler/jobCollections": version,
	}
	for path, v := range scopes {
		w.must("PUT", path+"/c"+v, `{"tags": {"at": "`+path+`"}}`)
		w.must("PUT", path+"/c/jobs/j"+v, strings.Replace(later, "{", `{"description": "`+path+`", `, 1))
	}
	for path, v := range scopes {
		if r := w.do("GET", path+"/c"+v, ""); !strings.Contains(r.body, `"at":"`+path+`"`) || !strings.Contains(r.body, `"name":"c"`) {
			t.Errorf("%s: %s", path, r.body)
		}
		if l := w.page(path + "/c/jobs" + v); len(l.Value) != 1 || l.Value[0].Properties["description"] != path || l.Value[0].Name != "c/j" {
			t.Errorf("%s: %+v", path, l)
		}
	}
	byPath := w.page("/subscriptions/S1/providers/microsoft.scheduler/jobcollections" + version)
	if len(byPath.Value) != 2 {
		t.Errorf("of the subscription: %+v", byPath.Value)
	}
	s := scheduler.Scope{Subscription: "s1", Group: "g"}
	short := "/jobCollections/" + s.Collection("c")
	w.steps([]step{
		{"GET", short, "", `200 "id":"` + s.Provider() + `/jobCollections/c"|"name":"` + s.Collection("c") + `"`},
		{"GET", short + "/jobs/j", "", `200 "name":"` + s.Collection("c") + `/j"`},
		{"PATCH", short, `{"tags": {"by": "short"}}`, `200 "id":"` + s.Provider()},
		{"GET", s.Provider() + "/jobCollections/c" + version, "", `200 "by":"short"`},
		{"DELETE", s.Provider() + "/jobCollections/c" + version, "", `200`},
		{"GET", short, "", `404`},
		{"PUT", short, "", `404 create it by the path`},
		{"PUT", short, `{"id": "` + s.Provider() + `/jobCollections/c"}`, `201 "name":"` + s.Collection("c") + `"`},
		{"GET", s.Provider() + "/jobCollections/c" + version, "", `200 "name":"c"`},
		{"GET", scheduler.Scope{}.Provider() + "/jobCollections/c" + version, "", `200 "at":"/jobCollections"|"id":"` + scheduler.Scope{}.Provider()},
	})
}

// TestManagedSpelling: the fixed parts of a path are read in any letter case, with a slash at the end, and so are the
// names of subscription and group. Ids have them as they were when the collection was created.
func TestManagedSpelling(t *testing.T) {
	w := azure(t)
	w.must("PUT", managed+"/jobs"+version, "") // a collection that is called like a part of a path
	w.must("PUT", managed+"/jobs/jobs/Run"+version, later)
	for _, path := range []string{
		strings.ToLower(managed) + "/jobs/jobs/Run", strings.ToUpper(group) + "/Providers/MICROSOFT.SCHEDULER/JOBCOLLECTIONS/jobs/JOBS/Run/",
		subscription + "/resourcegroups/cs-southcentralus-SCHEDULER/providers/microsoft.scheduler/jobCollections/jobs/Jobs/Run",
	} {
		if r := w.do("GET", path+version, ""); !strings.Contains(r.body, `"id":"`+managed+`/jobs/jobs/Run"`) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := w.do("GET", managed+"/jobs/jobs/run"+version, ""); r.status != http.StatusNotFound {
		t.Errorf("names of jobs tell letter cases apart: %d", r.status)
	}
	if r := w.do("GET", strings.Replace(managed, "CS-", "CS%2F", 1)+version, ""); r.status != http.StatusBadRequest {
		t.Errorf("a slash in a name: %d %s", r.status, r.body)
	}
}

// TestVersions: paths of the resource manager need a version of the API, and what is none is refused by name. The short
// paths take any.
func TestVersions(t *testing.T) {
	azure(t).steps([]step{
		{"GET", managed, "", `400 {"error":{"code":"MissingApiVersionParameter","message":"The api-version query parameter`},
		{"GET", managed + "?api-version=2016-01-01", "", `200`},
		{"GET", managed + "?api-version=2014-08-01-preview", "", `200`},
		{"GET", managed + "?api-version=2014-08-01-Preview", "", `200`},
		{
			"GET", managed + "/c/jobs/j?api-version=2014-04-01", "",
			`400 {"error":{"code":"InvalidApiVersionParameter","message":"The api-version '2014-04-01' is invalid. The supported versions are '2016-03-01,2016-01-01,2014-08-01-preview'."}}`,
		},
		{"PUT", managed + "/c?api-version=7", "", `400 '7' is invalid`},
		{"GET", managed + version + "&api-version=2016-03-01", "", `400 more than once`},
		{"GET", "/jobCollections?api-version=7", "", `200`},
		{"GET", "/subscriptions", "", `400 "MissingApiVersionParameter"`},
		{"GET", "/subscriptions?api-version=7", "", `400 "InvalidApiVersionParameter"`},
		{"GET", managed + version + "&nothing=1", "", `400 "path":"nothing"`},
	})
}

// TestProvider: Microsoft.Scheduler is registered in every subscription, and there are those subscriptions and groups that
// have a collection, and the default ones.
func TestProvider(t *testing.T) {
	w := azure(t)
	w.must("PUT", managed+"/c"+version, "")
	const v = "?api-version=2021-04-01"
	w.steps([]step{
		{"POST", subscription + "/providers/Microsoft.Scheduler/register" + v, "", `200 "namespace":"Microsoft.Scheduler","registrationState":"Registered"`},
		{"GET", subscription + "/providers/Microsoft.Scheduler" + v, "", `200 "resourceType":"jobcollections"|"South Central US"|"2014-08-01-preview"`},
		{"GET", subscription + "/providers" + v, "", `200 {"value":[{"id":"` + subscription + `/providers/Microsoft.Scheduler"`},
		{"GET", "/subscriptions" + v, "", `200 "subscriptionId":"` + scheduler.DefaultSubscription + `"|{"id":"` + subscription + `"|"state":"Enabled"`},
		{"GET", subscription + v, "", `200 {"id":"` + subscription + `"`},
		{"GET", subscription + "/resourcegroups" + v, "", `200 {"value":[{"id":"` + group + `","name":"CS-SouthCentralUS-scheduler"|"provisioningState":"Succeeded"`},
		{"GET", group + v, "", `200 "type":"Microsoft.Resources/resourceGroups"`},
		{"PUT", group + v, `{"location": "westus"}`, `200 {"id":"` + group + `","name":"CS-SouthCentralUS-scheduler"|"provisioningState":"Succeeded"`},
		{"PUT", subscription + "/resourcegroups/new" + v, `{"location": "westus"}`, `201 "name":"new"`},
		{"PUT", strings.TrimSuffix(scheduler.Scope{}.Provider(), "/providers/Microsoft.Scheduler") + v, "", `200`},
		{"PUT", group, "", `400 "MissingApiVersionParameter"`},
		{"DELETE", subscription + "/resourcegroups/new" + v, "", `200`},
		{"DELETE", strings.ToUpper(group) + v, "", `409 "Conflict"|it has collections, such as c: delete them first`},
		{"DELETE", managed + "/c" + version, "", `200`},
		{"DELETE", group + v, "", `200`},
		{"GET", subscription + "/providers/Microsoft.Storage" + v, "", `404 "UnknownRoute"`},
	})
	if r := w.do("HEAD", group+v, ""); r.status != http.StatusNoContent {
		t.Errorf("HEAD of a group: %d", r.status)
	}
	for _, method := range []string{"PUT", "DELETE"} { // there is nothing that a condition could be about
		if r := w.do(method, group+v, "", `If-Match: "x"`); r.status != http.StatusBadRequest || !strings.Contains(r.body, "If-Match") {
			t.Errorf("%s of a group with a condition: %d %s", method, r.status, r.body)
		}
	}
}

// TestLinksBehindTLS: where something before the server ends TLS, links lead there.
func TestLinksBehindTLS(t *testing.T) {
	w := azure(t)
	w.must("PUT", managed+"/c"+version, "")
	for _, name := range []string{"i", "j"} {
		w.must("PUT", managed+"/c/jobs/"+name+version, later)
	}
	for header, want := range map[string]string{"https": "https://", "HTTPS, http": "https://", "http": "http://", "gopher": "http://"} {
		r := w.do("GET", managed+"/c/jobs"+version+"&$top=1", "", "X-Forwarded-Proto: "+header)
		if !strings.Contains(r.body, `"nextLink":"`+want) {
			t.Errorf("%s: %s", header, r.body)
		}
	}
}

// TestInstants: a startTime of any form is told as some clients need it, and on the short paths as it was given.
func TestInstants(t *testing.T) {
	w := azure(t)
	doc := `{"startTime": "2099-01-01", "action": {"type": "Http", "request": {"uri": "http://x.example", "method": "GET"}}}`
	at := scheduler.Scope{}.Provider() + "/jobCollections/default/jobs/"
	w.must("PUT", "/jobCollections/default/jobs/j", doc)
	w.must("PUT", "/jobCollections/default/jobs/k", strings.Replace(doc, `"2099-01-01"`, `"2099-01-01T02:00:00.50+02:00"`, 1))
	w.steps([]step{
		{"GET", at + "j" + version, "", `200 "startTime":"2099-01-01T00:00:00Z"`},
		{"GET", at + "k" + version, "", `200 "startTime":"2099-01-01T02:00:00.50+02:00"`},
		{"GET", strings.TrimSuffix(at, "/") + version, "", `200 "startTime":"2099-01-01T00:00:00Z"`},
		{"GET", "/jobCollections/default/jobs/j", "", `200 "startTime":"2099-01-01"`},
	})
}

// TestRequestIDs gives every answer an id, and gives back the client's ids.
func TestRequestIDs(t *testing.T) {
	w := azure(t)
	const client, correlation = "X-Ms-Client-Request-Id", "X-Ms-Correlation-Request-Id"
	for _, path := range []string{managed + version, managed, "/jobCollections", "/nowhere"} {
		r := w.do("GET", path, "", client+": c1", correlation+": c2")
		if r.header.Get(client) != "c1" || r.header.Get(correlation) != "c2" {
			t.Errorf("%s: %v", path, r.header)
		}
		r = w.do("GET", path, "", client+": c1", "X-Ms-Return-Client-Request-Id: false")
		if r.header.Get(client) != "" || r.header.Get(correlation) != r.header.Get("X-Ms-Request-Id") {
			t.Errorf("%s: %v", path, r.header)
		}
	}
	if r := w.do("GET", "/nowhere", "", client+": "+strings.Repeat("x", 300), correlation+": "+strings.Repeat("x", 300)); len(r.header.Get(client))+len(r.header.Get(correlation)) > 100 {
		t.Errorf("what is no id is given back: %v", r.header)
	}
}

// TestCreateWithoutName makes jobs of names that nobody chose, as Azure Scheduler's classic API did.
func TestCreateWithoutName(t *testing.T) {
	w := azure(t)
	w.must("PUT", managed+"/c"+version, "")
	for path, v := range map[string]string{"/jobCollections/default/jobs": "", managed + "/c/jobs": version} {
		r := w.do("POST", path+v, later)
		var made entry
		if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != http.StatusCreated || !strings.HasPrefix(made.ID, path+"/job-") {
			t.Fatalf("%s: %d %v %s", path, r.status, err, r.body)
		}
		if at := r.header.Get("Location"); w.do("GET", at+v, "").status != http.StatusOK {
			t.Errorf("%s: nothing is at %s", path, at)
		}
	}
	w.steps([]step{{"POST", "/jobCollections/default/jobs?dryRun=true", later, `200 "dryRun"`}})
	if l := w.page("/jobCollections/default/jobs"); len(l.Value) != 1 {
		t.Errorf("%+v", l)
	}
}

// TestManagedRights: a grant on a collection is one of the default scope; those of others go by their names with marks.
func TestManagedRights(t *testing.T) {
	w := newHarness(t, asking)
	s := scheduler.Scope{Subscription: "s1", Group: "g"}
	path := s.Provider() + "/jobCollections"
	for _, p := range []string{"/jobCollections/c", path + "/c" + version, path + "/d" + version} {
		if r := w.do("PUT", p, "", as("admin")); r.status != http.StatusCreated {
			t.Fatal(r.status, r.body)
		}
	}
	mine := as("reader@" + s.Collection("c"))
	for _, test := range []struct {
		path, who string
		want      int
	}{
		{path + "/c" + version, as("admin@c"), http.StatusForbidden},
		{path + "/c/jobs" + version, as("admin@c"), http.StatusForbidden},
		{scheduler.Scope{}.Provider() + "/jobCollections/c" + version, as("reader@c"), http.StatusOK},
		{path + "/c" + version, mine, http.StatusOK},
		{strings.ToUpper(path) + "/c" + version, mine, http.StatusOK},
		{path + "/d" + version, mine, http.StatusForbidden},
		{"/jobCollections/c", mine, http.StatusForbidden},
		{path + version, "X: y", http.StatusUnauthorized},
	} {
		shown := strings.HasPrefix(test.path, "/jobCollections") // where names have marks
		if r := w.do("GET", test.path, "", test.who); r.status != test.want || !shown && strings.Contains(r.body, s.Mark()) {
			t.Errorf("%s as %s: %d %s, want %d", test.path, test.who, r.status, r.body, test.want)
		}
	}
	for _, list := range []string{path, "/subscriptions/s1/providers/Microsoft.Scheduler/jobCollections"} {
		if r := w.do("GET", list+version, "", mine); !strings.Contains(r.body, "jobCollections/c") || strings.Contains(r.body, "jobCollections/d") {
			t.Errorf("%s: %s", list, r.body)
		}
	}
	if r := w.do("GET", "/subscriptions"+version, "", as("reader@c")); strings.Contains(r.body, "s1") {
		t.Errorf("subscriptions: %s", r.body)
	}
}

// TestRecordedPatch repeats the recorded session of Azure's own test of a storage queue job: the first run stays on the
// grid of a startTime that is past, a patch merges into the recurrence, and what is secret is never shown.
func TestRecordedPatch(t *testing.T) {
	w := azure(t)
	const job = managed + "/jc17164/jobs/j14795"
	w.must("PUT", managed+"/jc17164"+version, `{"name":"jc17164","location":"South Central US","properties":{"sku":{"name":"Standard"},"state":"Enabled",
		"quota":{"maxJobCount":50,"maxRecurrence":{"frequency":"Minute","interval":1}}}}`)
	body := `{"properties":{"startTime":"2015-07-13T00:00:00Z","action":{"type":"StorageQueue","queueMessage":{"storageAccount":"schedulersdktest",
		"queueName":"queue1","sasToken":"` + secret + `","message":"some message!"},"retryPolicy":{"retryType":"Fixed","retryInterval":"00:01:00","retryCount":2},
		"errorAction":{"type":"Http","request":{"uri":"http://www.bing.com/","method":"GET"}}},
		"recurrence":{"frequency":"Week","interval":1,"count":10000,"endTime":"2099-10-10T10:10:10Z"},"state":"Enabled"}}`
	w.steps([]step{
		{
			"PUT", job + version, body, `201 "name":"jc17164/j14795"|"type":"StorageQueue"|"storageAccount":"schedulersdktest"|"retryType":"fixed"|` +
				`"retryInterval":"00:01:00"|"type":"Http"|"frequency":"week"|"count":10000|"state":"enabled"|"executionCount":0|"failureCount":0|"faultedCount":0`,
		},
	})
	if next := w.next(job + version); next.Weekday() != time.Monday || !next.Equal(next.Truncate(24*time.Hour)) {
		t.Errorf("the first run is at %v, want a Monday, on the grid of the startTime", next)
	}
	w.steps([]step{
		{
			"PATCH", job + version, `{"properties":{"startTime":"2015-07-14T00:00:00Z","recurrence":{"frequency":"Day","interval":1}}}`,
			`200 "frequency":"day"|"count":10000|"endTime":"2099-10-10T10:10:10Z"|"retryInterval":"00:01:00"|"startTime":"2015-07-14T00:00:00Z"`,
		},
	})
	if next := w.next(job + version); time.Until(next) > 24*time.Hour || !next.Equal(next.Truncate(24*time.Hour)) {
		t.Errorf("the first run is at %v, want it at midnight", next)
	}
	w.steps([]step{
		{"PATCH", job + version, `{"properties":{"status":{"executionCount":1}}}`, `400 "path":"properties.status"`},
		{"PATCH", job + version, `{"properties":{"state":"completed"}}`, `400 "path":"state"`},
		{"PATCH", job + version, `{"properties":{"state":"Faulted"}}`, `400 "path":"state"`},
		{"PATCH", job + version, `{"id":"` + managed + `/jc17164/jobs/other"}`, `400 "path":"id"`},
		{"PATCH", job + version, `{"id":"` + strings.Replace(job, "623d", "723d", 1) + `"}`, `400 "path":"id"`},
		{"PATCH", job + version, `{"id":"` + job + `"}`, `200`},
		{"PATCH", job + version, `{"properties":{"recurrence":{"count":null}}}`, `200 "recurrence":{"frequency":"day","interval":1,"endTime"`},
		{"PATCH", job + version, `{"properties":{"action":{"retryPolicy":{"retryInterval":"PT2M"}}}}`, `200 "retryInterval":"PT2M"`},
		{"PUT", job + version, strings.Replace(body, `"recurrence":{"frequency":"Week","interval":1,"count":10000,"endTime":"2099-10-10T10:10:10Z"},`, "", 1), `200 "state":`},
	})
	if r := w.do("GET", job+version, ""); strings.Contains(r.body, "recurrence") {
		t.Errorf("a PUT without a recurrence leaves one: %s", r.body)
	}
}

// TestRecordedAuthentication: what tells who authenticates is shown, in the letter case that clients choose their types
// by, and what is secret is not; null removes it.
func TestRecordedAuthentication(t *testing.T) {
	w := azure(t)
	const job = managed + "/c/jobs/j"
	w.must("PUT", managed+"/c"+version, "")
	doc := func(auth string) string {
		return `{"properties":{"startTime":"2099-01-01","action":{"type":"https","request":{"uri":"https://example.org/","method":"GET","authentication":` + auth + `}}}}`
	}
	w.steps([]step{
		{"PUT", job + version, doc(`{"type":"basic","username":"u","password":"` + secret + `"}`), `201 "authentication":{"type":"Basic","username":"u"}`},
		{
			"PUT", job + version, doc(`{"type":"activeDirectoryOAuth","tenant":"t.example.org","audience":"https://a.example.org/","clientId":"i","secret":"` + secret + `"}`),
			`200 "authentication":{"type":"ActiveDirectoryOAuth","tenant":"t.example.org","audience":"https://a.example.org/","clientId":"i"}`,
		},
		{"PATCH", job + version, `{"properties":{"action":{"request":{"authentication":null}}}}`, `200 "request":{"uri":"https://example.org/","method":"GET"}`},
	})
}

// TestRecordedHistory pages through 135 records: what there is comes once, newest first, whatever the pages are.
func TestRecordedHistory(t *testing.T) {
	w := azure(t)
	const job = managed + "/sdk-test/jobs/http_job"
	w.must("PUT", managed+"/sdk-test"+version, "")
	w.must("PUT", job+version, later)
	s := scheduler.Scope{Subscription: strings.TrimPrefix(subscription, "/subscriptions/"), Group: "CS-SouthCentralUS-scheduler"}
	w.recordMany(scheduler.Key{Collection: s.Collection("sdk-test"), Job: "http_job"}, 135)
	for _, query := range []string{"", "&$top=100", "&$top=10", "&$skip=0", "&$filter=status%20eq%20%27Failed%27"} {
		all, _ := w.entries(job + "/history" + version + query)
		for i, e := range all {
			if i > 0 && e.ID <= all[i-1].ID || e.Properties["repeatCount"] != float64(135-i) {
				t.Fatalf("%q: record %d: %s, %v", query, i, e.ID, e.Properties)
			}
		}
		if len(all) != 135 {
			t.Errorf("%q: %d records", query, len(all))
		}
	}
	if l := w.page(job + "/history" + version + "&$skip=130&$top=3"); len(l.Value) != 3 || l.Value[0].Properties["repeatCount"] != 5.0 {
		t.Errorf("%+v", l)
	}
}

// next is when a job runs.
func (w *harness) next(path string) time.Time {
	w.t.Helper()
	var shown struct {
		Properties struct {
			Status struct {
				Next time.Time `json:"nextExecutionTime"`
			} `json:"status"`
		} `json:"properties"`
	}
	r := w.do("GET", path, "")
	if err := json.Unmarshal([]byte(r.body), &shown); err != nil {
		w.t.Fatal(err, r.body)
	}
	return shown.Properties.Status.Next
}

// recordMany stores records of failures of a job, each of an occurrence of its own.
func (w *harness) recordMany(k scheduler.Key, n int) {
	w.t.Helper()
	uid := w.incarnationOf(k)
	for i := range n {
		at := started.Add(time.Duration(i) * time.Minute)
		must.Do(w.t, w.store.Append(w.t.Context(), &scheduler.Record{
			Job: k, UID: uid, Outcome: scheduler.OutcomeFailed, Started: at, Ended: at,
			Progress: scheduler.Progress{Number: i + 1},
		}))
	}
}

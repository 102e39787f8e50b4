package emulate_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// refused sends a form in which something is wrong.
func (d *drawer) refused(path string, form url.Values, wants ...string) {
	d.t.Helper()
	status, text := d.post(path, form)
	if status != http.StatusUnprocessableEntity {
		d.t.Errorf("%s %v: %d\n%s", path, form, status, text)
	}
	for _, want := range wants {
		if !strings.Contains(text, want) {
			d.t.Errorf("%s %v has no %q:\n%s", path, form, want, text)
		}
	}
}

// TestManage makes, changes and removes a queue, a topic and a subscription.
func TestManage(t *testing.T) {
	d := open(t)
	d.page("/console/queues", "/console/queues/new?kind=queue", "/console/queues/new?kind=topic", "/console/queues/storage/new")
	d.page("/console/queues/new?kind=queue", `name="sessions" value="1"`, `name="duplicates"`, `value="10"`)
	d.refused("/console/queues/new", url.Values{"kind": {"queue"}, "name": {""}, "lock": {"long"}, "deliveries": {"-1"}},
		"Enter a name.", "&#34;long&#34; is not a duration", "&#34;-1&#34; is not a number")
	d.refused("/console/queues/new", url.Values{"kind": {"queue"}, "name": {"orders"}}, "already exists")
	d.refused("/console/queues/new", url.Values{"kind": {"queue"}, "name": {"a<b>"}}, "a&lt;b&gt;")
	d.refused("/console/queues/new", url.Values{"kind": {"queue"}, "name": {"slow"}, "lock": {"6m"}}, "longer than 5 minutes")
	d.done("/console/queues/new", url.Values{
		"kind": {"queue"}, "name": {"fresh"}, "lock": {"30s"}, "deliveries": {"5"}, "ttl": {"1d12h"}, "sessions": {"1"}, "duplicates": {"20m"},
		"expired": {"1"}, "forwarddead": {"orders"}, "idle": {"2h"}, "quota": {"3"}, "metadata": {"mine <b>"},
	})
	d.page("/console/queues/entity?at=fresh", "30 seconds", "After 5 failed deliveries", "1 day 12 hours", "each message needs a session id", "20 minutes",
		"They become dead letters.", `at=orders`, "2 hours", "3 MB for all messages", "mine &lt;b&gt;")
	page := d.page("/console/queues/change?at=fresh", `value="30s"`, `value="1d12h"`, `value="20m"`, `value="3"`, `value="mine &lt;b&gt;"`)
	if strings.Contains(page, `name="sessions"`) {
		t.Error("sessions seem to be changeable")
	}
	kept := url.Values{"at": {"fresh"}, "status": {"SendDisabled"}, "lock": {"45s"}, "deliveries": {"7"}, "duplicates": {"30m"}, "quota": {""}}
	d.done("/console/queues/change", kept)
	page = d.page("/console/queues/entity?at=fresh", "sending disabled", "45 seconds", "After 7 failed deliveries", "30 minutes", "each message needs a session id",
		"They are dropped.")
	if strings.Contains(page, "mine") || strings.Contains(page, "3 MB of") {
		t.Errorf("what was emptied is there:\n%s", page)
	}
	kept.Set("duplicates", "")
	d.refused("/console/queues/change", kept, "You cannot turn duplicate detection on or off")
	kept.Set("duplicates", "30m")
	kept.Set("forward", "orders")
	d.refused("/console/queues/change", kept, "requires sessions cannot forward")
	d.page("/console/queues/drop?at=fresh", "Delete the queue fresh with its 0 messages?")
	d.done("/console/queues/drop", url.Values{"at": {"fresh"}})
	if status, _, _ := d.get("/console/queues/entity?at=fresh"); status != http.StatusNotFound {
		t.Errorf("it is still there: %d", status)
	}
	if status, _ := d.post("/console/queues/drop", url.Values{"at": {"fresh"}}); status != http.StatusNotFound {
		t.Errorf("it is removed twice: %d", status)
	}

	d.done("/console/queues/new", url.Values{"kind": {"topic"}, "name": {"news"}, "ttl": {"1h"}})
	d.page("/console/queues/new?kind=subscription&at=news", "New subscription", "news")
	d.done("/console/queues/new", url.Values{"kind": {"subscription"}, "at": {"news"}, "name": {"mine"}, "lock": {"1m"}, "deliveries": {"1"}, "filter": {"1"}})
	page = d.page("/console/queues/entity?at=news/Subscriptions/mine", "The message is dropped.", "After 1 failed deliveries")
	if way, _, _ := strings.Cut(page, "<h1>"); !strings.Contains(way, `<a href="/console/queues/entity?at=news">news</a>`) {
		t.Errorf("nothing above the heading leads back to the topic:\n%s", page)
	}
	d.send("news", &azservicebus.Message{Body: []byte("read all about it")})
	d.page("/console/queues/drop?at=news", "Delete the topic news with its one message?", "Its subscription is deleted too, permanently.")
	d.done("/console/queues/change", url.Values{"at": {"news"}, "ttl": {"2h"}, "status": {"Active"}})
	d.page("/console/queues/entity?at=news", "2 hours")
	d.done("/console/queues/drop", url.Values{"at": {"news/Subscriptions/mine"}})
	d.done("/console/queues/drop", url.Values{"at": {"news"}})
	for _, form := range []url.Values{{"kind": {"subscription"}, "at": {"orders"}, "name": {"x"}}, {"kind": {"house"}, "name": {"x"}}} {
		if status, _ := d.post("/console/queues/new", form); status != http.StatusNotFound && status != http.StatusBadRequest {
			t.Errorf("%v: %d", form, status)
		}
	}
}

// TestManageRules makes, changes and removes rules of each kind, and asks them.
func TestManageRules(t *testing.T) {
	d := open(t)
	const dear = "events/Subscriptions/dear"
	d.page("/console/queues/rules?at="+dear, "/console/queues/rule?at=events%2fSubscriptions%2fdear&amp;name=price")
	d.page("/console/queues/rule?at="+dear+"&name=price", "price &gt; 10 AND", "SET tier = &#39;gold&#39;")
	d.page("/console/queues/rule?at="+dear+"&name=north", `value="side"`, "north</textarea>")
	form := url.Values{"at": {dear}, "name": {"limit"}, "kind": {"sql"}, "expression": {"price >"}}
	d.refused("/console/queues/rule", form, "price &gt;", "Fix the problems in the rule.")
	form.Set("expression", "price > @limit")
	form["aname"], form["atype"], form["avalue"] = []string{"@limit"}, []string{"int"}, []string{"many"}
	d.refused("/console/queues/rule", form, "@limit")
	form["avalue"] = []string{"100"}
	form.Set("action", "SET =")
	d.refused("/console/queues/rule", form, "SET =")
	form.Set("action", "SET limit = @limit")
	d.done("/console/queues/rule", form)
	d.refused("/console/queues/rule", form, "already exists")
	form.Set("replace", "1")
	form["avalue"] = []string{"200"}
	d.done("/console/queues/rule", form)
	page := d.page("/console/queues/rules?at="+dear, "price &gt; @limit", "SET limit = @limit", "<bdi>200</bdi>")
	if strings.Count(page, "<bdi>@limit</bdi>") != 1 {
		t.Errorf("a parameter of filter and action is shown twice:\n%s", page)
	}
	d.refused("/console/queues/rule", url.Values{"at": {dear}, "name": {"c"}, "kind": {"correlation"}}, "at least one property")
	d.done("/console/queues/rule", url.Values{
		"at": {dear}, "name": {"c"}, "kind": {"correlation"}, "sys.Label": {"gift"}, "pname": {"n"}, "ptype": {"long"}, "pvalue": {"7"},
	})
	d.page("/console/queues/rule?at="+dear+"&name=c", `name="sys.Label" value="gift"`, `<option selected>long</option>`)
	d.send("events", &azservicebus.Message{Subject: new("gift"), ApplicationProperties: map[string]any{"n": int64(7)}},
		&azservicebus.Message{Subject: new("gift"), ApplicationProperties: map[string]any{"n": "7"}})
	if got := d.pills(dear); got != "1 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
	d.done("/console/queues/rule", url.Values{"at": {dear}, "name": {"c"}, "kind": {"true"}, "replace": {"1"}})
	d.page("/console/queues/rule/delete?at="+dear+"&name=c", "Delete the rule c of events/Subscriptions/dear?")
	for _, name := range []string{"c", "limit", "north"} {
		d.done("/console/queues/rule/delete", url.Values{"at": {dear}, "name": {name}})
	}
	d.page("/console/queues/rule/delete?at="+dear+"&name=price", "the subscription receives no messages")
	if status, _ := d.post("/console/queues/rule/delete", url.Values{"at": {dear}, "name": {"c"}}); status != http.StatusNotFound {
		t.Errorf("a rule that is gone: %d", status)
	}
}

// TestChangedMeanwhile has two people change the same entity, and the same rule: the second one is told.
func TestChangedMeanwhile(t *testing.T) {
	d := open(t)
	form := func(path, action string) url.Values {
		for _, f := range consoletest.Forms(t, d.page(path)) {
			if f.Action == action {
				return f.Values
			}
		}
		t.Fatalf("%s has no form for %s", path, action)
		return nil
	}
	const change = "/console/queues/change"
	mine, theirs := form(change+"?at=orders", change), form(change+"?at=orders", change)
	d.done(change, with(theirs, "lock", "30s", "deliveries", "5", "metadata", "<theirs>"))
	typed := with(mine, "lock", "45s", "ttl", "2d")
	status, page := d.post(change, typed)
	if status != http.StatusConflict || strings.Count(page, "Another user has just set") != 3 {
		t.Errorf("%d\n%s", status, page)
	}
	for _, want := range []string{
		"Not saved", `value="45s"`, "Another user has just set: 30s.", `value="2d"`, `value="5"`, `value="&lt;theirs&gt;"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it has no %q:\n%s", want, page)
		}
	}
	d.page("/console/queues/entity?at=orders", "30 seconds", "&lt;theirs&gt;", "14 days")
	again := consoletest.Forms(t, page)[0].Values
	d.done(change, again)
	d.page("/console/queues/entity?at=orders", "45 seconds", "After 5 failed deliveries", "&lt;theirs&gt;", "2 days")
	d.done(change, with(mine, "lock", "45s", "deliveries", "5", "metadata", "<theirs>", "ttl", "2d")) // both have typed the same

	const rule, path = "/console/queues/rule", "/console/queues/rule?at=events/Subscriptions/dear&name=price"
	mine, theirs = form(path, rule), form(path, rule)
	d.done(rule, with(theirs, "expression", "price > 77"))
	status, page = d.post(rule, with(mine, "expression", "price > 55"))
	if status != http.StatusConflict || !strings.Contains(page, "price &gt; 55</textarea>") || !strings.Contains(page, "<bdi>price &gt; 77</bdi>") {
		t.Errorf("%d\n%s", status, page)
	}
	d.page("/console/queues/rules?at=events/Subscriptions/dear", "price &gt; 77")
	d.done(rule, consoletest.Forms(t, page)[0].Values)
	d.page("/console/queues/rules?at=events/Subscriptions/dear", "price &gt; 55")
	d.done("/console/queues/rule/delete", url.Values{"at": {"events/Subscriptions/dear"}, "name": {"price"}})
	d.refused(rule, with(mine, "expression", "price > 1"), "The message no longer exists here", "price &gt; 1</textarea>")
}

// TestManageStorage makes and removes a storage queue.
func TestManageStorage(t *testing.T) {
	d := open(t)
	d.page("/console/queues/storage/new", "devstoreaccount1")
	for name, want := range map[string]string{"No": "3 to 63 lower-case letters", "a--b": "3 to 63 lower-case letters"} {
		d.refused("/console/queues/storage/new", url.Values{"account": {"devstoreaccount1"}, "name": {name}}, want)
	}
	d.refused("/console/queues/storage/new", url.Values{"account": {"nobody"}, "name": {"letters"}}, "there is no account")
	form := url.Values{"account": {"devstoreaccount1"}, "name": {"letters"}, "queue": {"letters"}}
	d.done("/console/queues/storage/new", form)
	d.refused("/console/queues/storage/new", form, "there is a queue of that name already")
	d.page("/console/queues/storage/drop?account=devstoreaccount1&queue=letters", "Delete the queue letters with its 0 messages?")
	d.done("/console/queues/storage/drop", form)
	if status, _ := d.post("/console/queues/storage/drop", form); status != http.StatusNotFound {
		t.Errorf("it is removed twice: %d", status)
	}
}

// TestOperator has somebody who may change messages, and not what there is for them.
func TestOperator(t *testing.T) {
	d := open(t)
	operator := &auth.Principal{Name: "me", Via: auth.ViaToken, Grants: []auth.Grant{{Role: auth.Operator}}}
	pages := httptest.NewServer(frame.New(frame.Config{
		Sections: []frame.Section{queues.Section(d.servers.ConsoleConfig("carillon emulate"))},
		Identify: func(*http.Request) (*auth.Principal, error) { return operator, nil },
	}))
	defer pages.Close()
	d.url = pages.URL
	d.done("/console/queues/send", url.Values{"at": {"orders"}, "body": {"x"}})
	for _, path := range []string{"", "/entity?at=orders", "/entity?at=events", "/rules?at=events/Subscriptions/dear"} {
		page := d.page("/console/queues" + path)
		for _, link := range []string{"/console/queues/new", "/console/queues/change", "/console/queues/drop", "/console/queues/rule?", "/console/queues/storage/new"} {
			if strings.Contains(page, link) {
				t.Errorf("%s leads to %s", path, link)
			}
		}
	}
	for _, path := range []string{"new", "change", "drop", "rule", "rule/delete", "storage/new", "storage/drop"} {
		if status, _ := d.post("/console/queues/"+path, url.Values{"at": {"orders"}}); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
		if status, _, _ := d.get("/console/queues/" + path + "?at=orders"); status != http.StatusForbidden {
			t.Errorf("the page of %s: %d", path, status)
		}
	}
}

// TestSessionList lists sessions, and the messages of one.
func TestSessionList(t *testing.T) {
	d := open(t)
	d.page("/console/queues/sessions?at=sessions", "No session has messages")
	var all []*azservicebus.Message
	for i := range 9 {
		all = append(all, &azservicebus.Message{Body: []byte{byte('a' + i)}, SessionID: new([]string{"one", "two <b>", ""}[i%3])})
	}
	d.send("sessions", all...)
	session := must.Get(d.bus.AcceptSessionForQueue(t.Context(), "sessions", "one", nil))(t)
	must.Do(t, session.SetSessionState(t.Context(), []byte(`{"step":1}`), nil))
	page := d.page("/console/queues/sessions?at=sessions", ">one<", "two &lt;b&gt;", `{&#34;step&#34;:1}`, "10 B", "locked by a receiver until", "free",
		"session=two&#43;%3Cb%3E", "nosession=1")
	if strings.Count(page, "locked by a receiver until") != 1 {
		t.Errorf("more than one session is held:\n%s", page)
	}
	if page = d.page("/console/queues/sessions?at=sessions&q=TWO", "two &lt;b&gt;"); strings.Contains(page, ">one<") {
		t.Errorf("the search finds others:\n%s", page)
	}
	for query, want := range map[string]string{"session=one": "1 4 7", "session=two+%3Cb%3E": "2 5 8", "nosession=1": "3 6 9", "session=none": "", "": "1 2 3 4 5 6 7 8 9"} {
		if got := strings.Join(numbered(d.page("/console/queues/entity?at=sessions&"+query)), " "); got != want {
			t.Errorf("%q has messages %s, want %s", query, got, want)
		}
	}
	until := d.follow("/console/queues/sessions/events?follow=1&at=sessions")
	until(">one<")
	d.send("sessions", &azservicebus.Message{Body: []byte("x"), SessionID: new("three")})
	until(">three<")
	must.Do(t, session.Close(t.Context()))
}

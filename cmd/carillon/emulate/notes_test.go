package emulate_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestNotes has people told what has come of what they did: on the page that they are led to.
func TestNotes(t *testing.T) {
	d := open(t)
	jar := must.Get(cookiejar.New(nil))(t)
	client := http.Client{Jar: jar}
	told := func(path string, form url.Values, want string) {
		t.Helper()
		answer, err := client.PostForm(d.url+path, form)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		page := must.Get(io.ReadAll(answer.Body))(t)
		if !strings.Contains(string(page), `id="note">`+want+"<") {
			t.Errorf("%s %v does not tell %q:\n%s", path, form, want, page)
		}
	}
	const send, purge = "/console/queues/send", "/console/queues/purge"
	queue, topic := url.Values{"at": {"orders"}, "body": {"x"}}, url.Values{"at": {"events"}, "body": {"x"}}
	told(send, queue, "The message was sent to orders.")
	told(send, with(queue, "scheduled", "2999-01-01T00:00"), "The message is scheduled in orders.")
	told(send, topic, "One subscription of events received the message.")
	told(send, with(topic, "pname", "side", "ptype", "string", "pvalue", "north"), "2 subscriptions of events received the message.")
	told("/console/queues/rule/delete", url.Values{"at": {"events/Subscriptions/all"}, "name": {"$Default"}}, "Rule $Default is deleted.")
	told(send, topic, "No rule of events matches the message, so it is lost.")
	all := url.Values{"at": {"orders"}, "part": {"active"}, "all": {"1"}}
	told(purge, all, "One message is deleted.")
	for range 2 {
		told(send, queue, "The message was sent to orders.")
	}
	receiver := must.Get(d.bus.NewReceiverForQueue("orders", nil))(t)
	must.Get(receiver.ReceiveMessages(t.Context(), 1, nil))(t)
	told(purge, all, "One message is deleted. One message is locked by a receiver and stays.")
	told(purge, all, "0 messages are deleted. One message is locked by a receiver and stays.")
}

package admin

import (
	"bytes"
	"encoding/xml"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

const queueEntry = `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
	<QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">
		<LockDuration>PT30S</LockDuration><RequiresSession>true</RequiresSession><ForwardTo>
			sb://host/other/queue
		</ForwardTo>
		<AuthorizationRules><AuthorizationRule><Rights><AccessRights>Send</AccessRights></Rights></AuthorizationRule></AuthorizationRules>
	</QueueDescription></content></entry>`

const ruleEntry = `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
	<RuleDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">
		<Filter p4:type="SqlFilter" xmlns:p4="http://www.w3.org/2001/XMLSchema-instance"><SqlExpression>a = @a</SqlExpression>
		<Parameters><KeyValueOfstringanyType><Key>@a</Key><Value p4:type="l28:int" xmlns:l28="http://www.w3.org/2001/XMLSchema">5</Value>
		</KeyValueOfstringanyType></Parameters></Filter><Name>r</Name></RuleDescription></content></entry>`

func newQuery() *query {
	return &query{broker: broker.New(broker.Config{}), r: httptest.NewRequest(http.MethodPut, "/", http.NoBody)}
}

func TestBadEntries(t *testing.T) {
	for name, body := range map[string]string{
		"no XML":     "garbage",
		"not closed": "<entry><content>",
	} {
		if _, err := decodeEntry(strings.NewReader(body)); !errors.Is(err, errBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, body := range map[string]string{
		"duration": strings.Replace(queueEntry, "PT30S", "soon", 1),
		"status":   strings.Replace(queueEntry, "<ForwardTo>", "<Status>Odd</Status><ForwardTo>", 1),
	} {
		c := must.Get(decodeEntry(strings.NewReader(body)))(t)
		if err := c.Queue.apply(newQuery().members(&broker.Info{})); !errors.Is(err, errBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPaths shows how paths are read in which names have slashes and look like more.
func TestPaths(t *testing.T) {
	for path, want := range map[string][3]string{
		"t/Subscriptions/s":              {"t", "/s", "true"},
		"a/b/subscriptions/s":            {"a/b", "/s", "true"},
		"t/Subscriptions":                {"t", "", "true"},
		"mysubscriptions":                {"mysubscriptions", "", "false"},
		"t/subscriptionsX":               {"t/subscriptionsX", "", "false"},
		"subscriptions/Subscriptions/s":  {"subscriptions", "/s", "true"},
		"t/Subscriptions/s/Rules/r":      {"t", "/s/Rules/r", "true"},
		"t/Subscriptions/subscriptions2": {"t", "/subscriptions2", "true"},
		"\xff\xff/Subscriptions/s\xff":   {"\xff\xff", "/s\xff", "true"}, // bytes that change their number in lower case
		"İİ/Subscriptions":               {"İİ", "", "true"},
		"/subscriptions":                 {"", "", "true"},
	} {
		before, after, found := cutFold(path, "/subscriptions")
		if before != want[0] || after != want[1] || found != (want[2] == "true") {
			t.Errorf("%s: %q, %q, %v", path, before, after, found)
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add([]byte(queueEntry))
	f.Add([]byte(ruleEntry))
	f.Add([]byte(`<entry><content><SubscriptionDescription><DefaultRuleDescription><Filter i:type="x"/></DefaultRuleDescription>` +
		`</SubscriptionDescription><TopicDescription/></content></entry>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := decodeEntry(bytes.NewReader(body))
		if err != nil {
			return
		}
		for kind, d := range map[broker.Kind]*description{
			broker.QueueKind: c.Queue, broker.TopicKind: c.Topic, broker.SubscriptionKind: c.Subscription,
		} {
			if d != nil {
				_ = d.apply(newQuery().members(&broker.Info{Kind: kind}))
			}
		}
		if c.Rule == nil {
			return
		}
		rule, err := c.Rule.rule("r")
		if err != nil {
			return
		}
		raw := must.Get(xml.Marshal(newRuleFilter(rule.Filter)))(t)
		var again ruleFilter
		if err := xml.Unmarshal(raw, &again); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	})
}

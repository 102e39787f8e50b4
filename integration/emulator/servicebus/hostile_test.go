package servicebus_test

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/internal/hostile"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// hostileSeeds are requests that are right, of all that the HTTP port serves.
var hostileSeeds = func() []string {
	const rule = `<Filter xmlns:p4="http://www.w3.org/2001/XMLSchema-instance" p4:type="SqlFilter"><SqlExpression>a = @p AND sys.Label LIKE 'x%'` +
		`</SqlExpression><Parameters><KeyValueOfstringanyType><Key>@p</Key><Value p4:type="l28:dateTime" ` +
		`xmlns:l28="http://www.w3.org/2001/XMLSchema">2020-01-02T03:04:05</Value></KeyValueOfstringanyType></Parameters></Filter>` +
		`<Action xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="SqlRuleAction"><SqlExpression>SET b = a + 1; REMOVE c</SqlExpression></Action>`
	const api = "api-version=2021-05"
	const token = "11111111-2222-3333-4444-555555555555"
	return []string{
		ask("POST /q/messages", "orderId: 5\r\nname: \"x\"\r\nrate: 1.5\r\nBrokerProperties: {\"Label\":\"l\",\"TimeToLive\":60,"+
			"\"ScheduledEnqueueTimeUtc\":\"Sun, 06 Nov 2044 08:49:37 GMT\",\"SessionId\":\"s\"}\r\n", "body"),
		ask("POST /t/messages", "Content-Type: application/vnd.microsoft.servicebus.json\r\n",
			`[{"Body":"a","BrokerProperties":{"TimeToLiveTimeSpan":"0.00:00:40"},"UserProperties":{"a":1,"b":true,"c":"x"}}]`),
		ask("DELETE /q/messages/head?timeout=0", "", ""),
		ask("POST /t/subscriptions/s/messages/head?timeout=0", "", ""),
		ask("POST /t/subscriptions/s/$DeadLetterQueue/messages/head?timeout=0", "", ""),
		ask("DELETE /q/messages/1/"+token, "", ""), ask("PUT /q/messages/1/"+token, "", ""), ask("POST /q/messages/1/"+token, "", ""),
		ask("PUT /made?"+api, "", description("QueueDescription", "<LockDuration>PT30S</LockDuration><MaxSizeInMegabytes>1024</MaxSizeInMegabytes>"+
			"<AuthorizationRules><AuthorizationRule><Rights><AccessRights>Send</AccessRights></Rights><KeyName>k</KeyName></AuthorizationRule></AuthorizationRules>")),
		ask("PUT /made?"+api, "If-Match: *\r\n", description("QueueDescription", "<LockDuration>PT1M</LockDuration><Status>Active</Status>")),
		ask("GET /made?"+api, "", ""), ask("DELETE /made?"+api, "", ""),
		ask("PUT /news?"+api, "", description("TopicDescription", "<DefaultMessageTimeToLive>P1D</DefaultMessageTimeToLive>")),
		ask("PUT /news/Subscriptions/s?"+api, "", description("SubscriptionDescription", "<DefaultRuleDescription>"+rule+
			"<Name>first</Name></DefaultRuleDescription><ForwardTo>q</ForwardTo>")),
		ask("PUT /t/Subscriptions/s/Rules/r?"+api, "", description("RuleDescription", rule+"<Name>r</Name>")),
		ask("GET /t/Subscriptions/s/Rules?"+api+"&$skip=0&$top=5", "", ""), ask("DELETE /t/Subscriptions/s/Rules/r?"+api, "", ""),
		ask("GET /$Resources/Queues?"+api, "", ""), ask("GET /$namespaceinfo?"+api, "", ""), ask("DELETE /news?"+api, "", ""),
		ask("GET /api/entities", "", ""), ask("GET /api/messages?entity=q&from=1&top=5&session=s", "", ""),
		ask("DELETE /api/messages?entity=q", "", ""), ask("POST /api/resubmit?entity=t/Subscriptions/s&sequence=1,2", "", ""),
		ask("GET /health", "", ""), ask("GET /metrics", "", ""),
		ask("GET /$servicebus/websocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: AMQPWSB10\r\n", ""),
	}
}()

func TestHostileRequests(t *testing.T) {
	alarms := &hostile.Alarms{}
	server := startREST(t, servicebus.Config{Logger: alarms.Logger()})
	hostile.Check(t, server.HTTPAddr(), hostileSeeds, alarms)
}

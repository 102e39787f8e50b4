package hostile

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/integration/testkit/mutate"
)

func TestServiceBus(t *testing.T) {
	a := &alarms{}
	server := must.Get(servicebus.Start(t.Context(), servicebus.Config{
		Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Logger: a.logger(),
		Entities: servicebus.Entities{
			Queues: []servicebus.Queue{{Name: "q"}, {Name: "a/b"}, {Name: "sessions", Options: servicebus.QueueOptions{RequiresSession: true}}},
			Topics: []servicebus.Topic{{Name: "t", Subscriptions: []servicebus.Subscription{{Name: "s"}}}},
		},
	}))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	checkEmulator(t, server.HTTPAddr(), busSeeds, a)
}

func TestStorageQueue(t *testing.T) {
	a := &alarms{}
	server := must.Get(storagequeue.Start(t.Context(), storagequeue.Config{Addr: "127.0.0.1:0", Keys: storagequeue.Lenient, Logger: a.logger()}))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	checkEmulator(t, server.Addr(), queueSeeds, a)
}

// checkEmulator sends 10,000 mutated requests to an emulator in this process. It fails unless each is answered, none with a
// failure of the emulator's own, and the memory does not grow with them.
func checkEmulator(t *testing.T, addr string, seeds []string, a *alarms) {
	t.Helper()
	n := 10_000
	if testing.Short() {
		n = 2000
	}
	// Some stay unchanged, so that others find what they made.
	mutants := mutate.Mutator{Words: tokens, Least: 0, Most: 3, Repeats: 2000}
	for _, seed := range seeds {
		mutants.Seeds = append(mutants.Seeds, []byte(seed))
	}
	sendAll(addr, &mutants, n/10, &tally{}) // what is made once
	before := heap()
	report := &tally{door: t.Name()}
	sendAll(addr, &mutants, n, report)
	grown := int64(heap() - before)
	t.Log(report, "heap grew by", grown>>10, "KiB")
	for _, blame := range report.blames {
		t.Errorf("the server takes the blame: %.2000s", blame)
	}
	if grown > 16<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if log := a.String(); log != "" {
		t.Error(log)
	}
}

// sendAll sends n mutants, each over a connection of its own.
func sendAll(addr string, mutants *mutate.Mutator, n int, report *tally) {
	var sending sync.WaitGroup
	for s := range uint64(senders) {
		r := rand.New(rand.NewPCG(uint64(n), s))
		sending.Go(func() {
			for range n / senders {
				b := mutants.Mutant(r)
				at := time.Now()
				class, blame := whole(addr, b)
				report.add(b, class, time.Since(at), blame)
			}
		})
	}
	sending.Wait()
}

// whole sends a request with which the client ends, and reads the answer.
func whole(addr string, b []byte) (class, blame string) {
	conn, end, err := say(addr, b)
	if err != nil {
		return "refused", err.Error()
	}
	defer conn.Close()
	end()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if isTimeout(err) {
		return "no answer", "no answer"
	}
	if err != nil {
		return "closed", ""
	}
	if class, blame = status(res); res.StatusCode < http.StatusInternalServerError {
		blame = "" // net/http sends on to a clean path
	}
	return class, blame
}

// alarms are the lines of a log that report a defect.
type alarms struct{ logtest.Log }

// Write takes a line.
func (a *alarms) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic")) || bytes.Contains(line, []byte("level=ERROR")) {
		return a.Log.Write(line)
	}
	return len(line), nil
}

func (a *alarms) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// heap is the number of bytes in use.
func heap() uint64 {
	runtime.GC() //nolint:revive // exclude garbage
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// tokens are what parsers care for.
var tokens = []string{
	"%", "%00", "%2f", "%zz", "/", "//", "..", "?", "&", "=", "$", "\x00", "\xff", "\r\n", "\n", ":", ";", ",", "\"", "'", "<", ">",
	"</", "<![CDATA[", "]]>", "&amp;", "&#0;", "&x;", "<!DOCTYPE a [<!ENTITY x \"y\">]>", "{", "}", "[", "]", "\\u0000", "1e999", "-1",
	"0", "9223372036854775808", "NaN", "-0", "P1D", "P99999999999D", "é", "😀", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
	"Host: x\r\n", "Authorization: SharedKey a:b\r\n", "Authorization: SharedAccessSignature sr=a&sig=b&se=c&skn=d\r\n",
	"comp=list", "comp=acl", "comp=metadata", "messages", "head", "$DeadLetterQueue", "/subscriptions/", "/rules/", "If-Match: *\r\n",
}

// described is the document of an entity.
func described(kind, members string) string {
	return `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">` + members + `</` + kind + `></content></entry>`
}

// asked is a request of the HTTP port.
func asked(line, headers, body string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: my.servicebus.windows.net\r\n%sContent-Length: %d\r\n\r\n%s", line, headers, len(body), body)
}

// busSeeds are requests that are right, of all that the HTTP port serves.
var busSeeds = func() []string {
	const rule = `<Filter xmlns:p4="http://www.w3.org/2001/XMLSchema-instance" p4:type="SqlFilter"><SqlExpression>a = @p AND sys.Label LIKE 'x%'` +
		`</SqlExpression><Parameters><KeyValueOfstringanyType><Key>@p</Key><Value p4:type="l28:dateTime" ` +
		`xmlns:l28="http://www.w3.org/2001/XMLSchema">2020-01-02T03:04:05</Value></KeyValueOfstringanyType></Parameters></Filter>` +
		`<Action xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="SqlRuleAction"><SqlExpression>SET b = a + 1; REMOVE c</SqlExpression></Action>`
	const api = "api-version=2021-05"
	const token = "11111111-2222-3333-4444-555555555555"
	return []string{
		asked("POST /q/messages", "orderId: 5\r\nname: \"x\"\r\nrate: 1.5\r\nBrokerProperties: {\"Label\":\"l\",\"TimeToLive\":60,"+
			"\"ScheduledEnqueueTimeUtc\":\"Sun, 06 Nov 2044 08:49:37 GMT\",\"SessionId\":\"s\"}\r\n", "body"),
		asked("POST /t/messages", "Content-Type: application/vnd.microsoft.servicebus.json\r\n",
			`[{"Body":"a","BrokerProperties":{"TimeToLiveTimeSpan":"0.00:00:40"},"UserProperties":{"a":1,"b":true,"c":"x"}}]`),
		asked("DELETE /q/messages/head?timeout=0", "", ""),
		asked("POST /t/subscriptions/s/messages/head?timeout=0", "", ""),
		asked("POST /t/subscriptions/s/$DeadLetterQueue/messages/head?timeout=0", "", ""),
		asked("DELETE /q/messages/1/"+token, "", ""), asked("PUT /q/messages/1/"+token, "", ""), asked("POST /q/messages/1/"+token, "", ""),
		asked("PUT /made?"+api, "", described("QueueDescription", "<LockDuration>PT30S</LockDuration><MaxSizeInMegabytes>1024</MaxSizeInMegabytes>"+
			"<AuthorizationRules><AuthorizationRule><Rights><AccessRights>Send</AccessRights></Rights><KeyName>k</KeyName></AuthorizationRule></AuthorizationRules>")),
		asked("PUT /made?"+api, "If-Match: *\r\n", described("QueueDescription", "<LockDuration>PT1M</LockDuration><Status>Active</Status>")),
		asked("GET /made?"+api, "", ""), asked("DELETE /made?"+api, "", ""),
		asked("PUT /news?"+api, "", described("TopicDescription", "<DefaultMessageTimeToLive>P1D</DefaultMessageTimeToLive>")),
		asked("PUT /news/Subscriptions/s?"+api, "", described("SubscriptionDescription", "<DefaultRuleDescription>"+rule+
			"<Name>first</Name></DefaultRuleDescription><ForwardTo>q</ForwardTo>")),
		asked("PUT /t/Subscriptions/s/Rules/r?"+api, "", described("RuleDescription", rule+"<Name>r</Name>")),
		asked("GET /t/Subscriptions/s/Rules?"+api+"&$skip=0&$top=5", "", ""), asked("DELETE /t/Subscriptions/s/Rules/r?"+api, "", ""),
		asked("GET /$Resources/Queues?"+api, "", ""), asked("GET /$namespaceinfo?"+api, "", ""), asked("DELETE /news?"+api, "", ""),
		asked("GET /api/entities", "", ""), asked("GET /api/messages?entity=q&from=1&top=5&session=s", "", ""),
		asked("DELETE /api/messages?entity=q", "", ""), asked("POST /api/resubmit?entity=t/Subscriptions/s&sequence=1,2", "", ""),
		asked("GET /health", "", ""), asked("GET /metrics", "", ""),
		asked("GET /$servicebus/websocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: AMQPWSB10\r\n", ""),
	}
}()

// queueSeeds are requests that are right.
var queueSeeds = func() []string {
	const account = "/devstoreaccount1"
	var requests []string
	for _, r := range []struct{ line, headers, body string }{
		{"PUT " + account + "/orders", "x-ms-meta-Kind: a\r\n", ""},
		{"PUT " + account + "/orders?comp=metadata", "x-ms-meta-Kind: b\r\n", ""},
		{"GET " + account + "/orders?comp=metadata", "", ""},
		{"GET " + account + "?comp=list&prefix=q&marker=a&maxresults=5&include=metadata", "", ""},
		{"POST " + account + "/orders/messages?visibilitytimeout=1&messagettl=60", "", "<QueueMessage><MessageText>aGVsbG8=</MessageText></QueueMessage>"},
		{"GET " + account + "/orders/messages?numofmessages=32&visibilitytimeout=30", "", ""},
		{"GET " + account + "/orders/messages?peekonly=true", "", ""},
		{"PUT " + account + "/orders/messages/1?popreceipt=a&visibilitytimeout=0", "", "<QueueMessage><MessageText>x</MessageText></QueueMessage>"},
		{"DELETE " + account + "/orders/messages/1?popreceipt=a", "", ""},
		{"DELETE " + account + "/orders/messages", "", ""},
		{"DELETE " + account + "/orders", "", ""},
		{"PUT " + account + "/orders?comp=acl", "", "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start>" +
			"<Expiry>2030-01-01T00:00:00Z</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"},
		{"GET " + account + "/orders?comp=acl", "", ""},
		{"PUT " + account + "?restype=service&comp=properties", "", "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete>" +
			"<Read>true</Read><Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><Cors><CorsRule>" +
			"<AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders>*" +
			"</ExposedHeaders><AllowedHeaders>*</AllowedHeaders></CorsRule></Cors></StorageServiceProperties>"},
		{"GET " + account + "?restype=service&comp=properties", "", ""},
		{"GET " + account + "-secondary?restype=service&comp=stats", "", ""},
		{"OPTIONS " + account + "/orders", "Origin: http://localhost\r\nAccess-Control-Request-Method: GET\r\n", ""},
		{"GET " + account + "/orders?comp=metadata&sv=2021-12-02&ss=q&srt=sco&sp=rwdlacup&se=2030-01-01T00:00:00Z&st=2020-01-01T00:00:00Z&spr=https,http&sig=YQ%3D%3D", "", ""},
		{"GET /metrics", "", ""},
	} {
		requests = append(requests, fmt.Sprintf("%s HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-version: 2021-12-02\r\nx-ms-date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"+
			"Authorization: SharedKey devstoreaccount1:YQ==\r\n%sContent-Length: %d\r\n\r\n%s", r.line, r.headers, len(r.body), r.body))
	}
	return requests
}()

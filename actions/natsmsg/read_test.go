package natsmsg_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestProblems has one document for each message of validation.
func TestProblems(t *testing.T) {
	const creds = `"-----BEGIN NATS USER JWT-----\nx\n-----END NATS USER JWT-----\n-----BEGIN USER NKEY SEED-----\nx\n"`
	tests := map[string]struct {
		body string
		want []string
	}{
		"nothing":      {`{}`, []string{`subject: is required`}},
		"mode":         {`{"subject": "a", "mode": "pubish"}`, []string{`mode: "pubish" is not one of publish, jetstream, request; did you mean "publish"?`}},
		"unknown":      {`{"subject": "a", "subjects": "b"}`, []string{`subjects: unknown field; did you mean "subject"?`}},
		"empty":        {`{"subject": ""}`, []string{`subject: must not be empty`}},
		"wildcard":     {`{"subject": "a.*"}`, []string{`subject: "a.*" contains a wildcard, and a message has one subject`}},
		"space":        {`{"subject": "a b"}`, []string{`subject: "a b" contains a space or a control character`}},
		"line":         {`{"subject": "a\r\nPUB b"}`, []string{`subject: "a\r\nPUB b" contains a space or a control character`}},
		"token":        {`{"subject": "a..b"}`, []string{`subject: "a..b" has an empty token: a dot separates two tokens`}},
		"dot":          {`{"subject": "a."}`, []string{`subject: "a." has an empty token: a dot separates two tokens`}},
		"long":         {`{"subject": "` + strings.Repeat("a", 256) + `"}`, []string{`subject: is 256 bytes long, at most 255 are allowed`}},
		"reply":        {`{"subject": "a", "replyTo": ">"}`, []string{`replyTo: ">" contains a wildcard, and a message has one subject`}},
		"reply mode":   {`{"subject": "a", "mode": "request", "replyTo": "b"}`, []string{`replyTo: goes with mode publish only`}},
		"stream mode":  {`{"subject": "a", "expectStream": "S"}`, []string{`expectStream: goes with mode jetstream only`}},
		"TTL mode":     {`{"subject": "a", "timeToLive": "PT1M"}`, []string{`timeToLive: goes with mode jetstream only`}},
		"stream":       {`{"subject": "a", "mode": "jetstream", "expectStream": "a.b"}`, []string{`expectStream: "a.b" is not the name of a stream`}},
		"TTL":          {`{"subject": "a", "mode": "jetstream", "timeToLive": "PT0.5S"}`, []string{`timeToLive: PT0.5S is shorter than a second`}},
		"header name":  {`{"subject": "a", "headers": {"a:b": "c"}}`, []string{`headers.a:b: is not a header name`}},
		"header value": {`{"subject": "a", "headers": {"a": "b\nc"}}`, []string{`headers.a: must not contain line breaks or control characters`}},
		"header kind":  {`{"subject": "a", "headers": {"a": 1, "b": null}}`, []string{`headers.a: must be a string, not a number`}},
		"header twice": {`{"subject": "a", "headers": {"a": "1", "A": "2"}}`, []string{`headers.A: is given twice, in different letter case`}},
		"headers":      {`{"subject": "a", "headers": []}`, []string{`headers: must be an object, not an array`}},
		"server's headers": {
			`{"subject": "a", "headers": {"nats-trace-dest": "carillon.fire.0.a.b", "Nats-Rollup": "all", "Status": "503", "Nats-Msg-Id": "mine"}}`,
			[]string{
				`headers.nats-trace-dest: is reserved for NATS`,
				`headers.Nats-Rollup: is reserved for NATS`,
				`headers.Status: is reserved for NATS`,
			},
		},
		"members' headers": {
			`{"subject": "a", "headers": {"Nats-TTL": "1", "Nats-Expected-Stream": "S"}}`,
			[]string{`headers.Nats-TTL: is set by the scheduler: use timeToLive`, `headers.Nats-Expected-Stream: is set by the scheduler: use expectStream`},
		},
		"header size": {
			`{"subject": "a", "headers": {"a": "` + strings.Repeat("x", 4096) + `"}}`,
			[]string{`headers: names and values are 4097 characters long together, at most 4096 are allowed`},
		},
		"no servers":      {`{"subject": "a", "servers": []}`, []string{`servers: has 0 elements, 1 to 16 are allowed`}},
		"empty servers":   {`{"subject": "a", "servers": ""}`, []string{`servers: is not the URL of a server, such as nats://nats.example.com:4222`}},
		"servers' kind":   {`{"subject": "a", "servers": [1]}`, []string{`servers[0]: must be a string, not a number`}},
		"scheme":          {`{"subject": "a", "servers": ["nats://a", "http://b"]}`, []string{`servers[1]: has a scheme that is not one of nats, tls, ws, wss`}},
		"path":            {`{"subject": "a", "servers": "nats://a/b"}`, []string{`servers: must end with the port: a server has no path and no query`}},
		"web sockets":     {`{"subject": "a", "servers": "nats://a,ws://b"}`, []string{`servers: web sockets and other servers do not go together`}},
		"password in URL": {`{"subject": "a", "servers": "nats://u:planted@a"}`, []string{`servers: must not contain credentials: they have separate fields`}},
		"unparsable URL":  {`{"subject": "a", "servers": "nats://u:planted@[a"}`, []string{`servers: is not the URL of a server`}},
		"without servers": {
			`{"subject": "a", "token": "planted"}`,
			[]string{`token: goes with servers only; the scheduler's own connection has its own`},
		},
		"credentials": {
			`{"subject": "a", "servers": "a", "credentials": "planted"}`,
			[]string{`credentials: is not the text of a credentials file, with a user JWT and an NKEY seed`},
		},
		"two ways": {
			`{"subject": "a", "servers": "a", "credentials": ` + creds + `, "token": "planted"}`,
			[]string{`token: does not go with credentials: give one of credentials, token, and user with password`},
		},
		"no user":     {`{"subject": "a", "servers": "a", "password": "planted"}`, []string{`user: is required beside password`}},
		"no password": {`{"subject": "a", "servers": "a", "user": "me"}`, []string{`password: is required beside user`}},
		"template":    {`{"subject": "a", "message": "{{.Nope", "template": true}`, []string{`message: `}},
		"envelope":    {`{"subject": "a", "envelope": "azureScheduler"}`, []string{`envelope: "azureScheduler" is not one of none, cloudevents, cloudeventsBinary`}},
	}
	c := client(t, natsmsg.Config{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			action, err := read(t, c, document.NewReader(), test.body)
			if err == nil || action != nil {
				t.Fatalf("action %v, error %v", action, err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got %q, want %q", lines, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], "action.natsMessage."+want) {
					t.Errorf("got %q, want %q", lines[i], want)
				}
				if strings.Contains(lines[i], "planted") {
					t.Errorf("a secret is shown: %s", lines[i])
				}
			}
		})
	}
}

func TestTarget(t *testing.T) {
	c := client(t, natsmsg.Config{})
	got := map[string]string{}
	for _, servers := range []string{
		``, `, "servers": "nats.example.com"`, `, "servers": "tls://A:1, nats://b"`, `, "servers": ["wss://c", "ws://d:2"]`, `, "servers": "[::1]"`,
	} {
		action, err := read(t, c, document.NewReader(), `{"subject": "a"`+servers+`}`)
		if err != nil {
			t.Fatal(err)
		}
		got[servers] = action.Target()
	}
	want := map[string]string{
		``: "nats", `, "servers": "nats.example.com"`: "nats.example.com:4222", `, "servers": "tls://A:1, nats://b"`: "a:1",
		`, "servers": ["wss://c", "ws://d:2"]`: "c:443", `, "servers": "[::1]"`: "[::1]:4222",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestConfides has who is shown the secrets of an action.
func TestConfides(t *testing.T) {
	c := client(t, natsmsg.Config{})
	for servers, want := range map[string][]scheduler.Recipient{
		``: {{Address: "the scheduler's own NATS server"}},
		`, "servers": "tls://NATS.example.com, nats://b:1"`: {{Address: "tls://nats.example.com:4222"}, {Address: "nats://b:1"}},
	} {
		action, err := read(t, c, document.NewReader(), `{"subject": "a"`+servers+`}`)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, action.(scheduler.SecretDestination).Recipients()); diff != "" {
			t.Errorf("%s: %s", servers, diff)
		}
	}
}

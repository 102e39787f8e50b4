package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestReadActionProblems has one document for each message of validation.
func TestReadActionProblems(t *testing.T) {
	const ok = `"uri":"http://h/","method":"get"`
	tests := map[string]struct {
		kind    string // default Http
		request string
		want    []string
	}{
		"nothing": {
			request: `{}`,
			want:    []string{`action.request.uri: is required`, `action.request.method: is required`},
		},
		"null": {
			request: `null`,
			want:    []string{`action.request: is required`},
		},
		"not an object": {
			request: `"http://h/"`,
			want:    []string{`action.request: must be an object, not a string`},
		},
		"everything at once": {
			kind: "https",
			request: `{"uri":"http://h/","method":"CONNECT","headers":{"é":"c"},"redirects":21,
				"success":{"status":["2x"]},"authentication":{"type":"Basic","username":"u"}}`,
			want: []string{
				`action.request.uri: must begin with https:// for the action type Https`,
				`action.request.method: "CONNECT" is not one of GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS`,
				"action.request.headers.é: is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed",
				`action.request.success.status[0]: "2x" is not a status: write 200, 2xx or 200-204`,
				`action.request.redirects: 21 is not in 0-20`,
				`action.request.authentication.password: is required`,
			},
		},
		"uri relative":  {request: uri("/path"), want: []string{`action.request.uri: must be absolute, such as https://example.com/path`}},
		"uri empty":     {request: uri(""), want: []string{`action.request.uri: must be absolute, such as https://example.com/path`}},
		"uri scheme":    {request: uri("ftp://h/"), want: []string{`action.request.uri: must begin with http:// or https://`}},
		"uri opaque":    {request: uri("http:h"), want: []string{`action.request.uri: has no host`}},
		"uri port only": {request: uri("http://:80/"), want: []string{`action.request.uri: has no host`}},
		"uri user":      {request: uri("http://u:p@h/"), want: []string{`action.request.uri: must not hold a user name or password; use an Authorization header`}},
		"uri port zero": {request: uri("http://h:0/"), want: []string{`action.request.uri: has a port that is not in 1-65535`}},
		"uri port":      {request: uri("http://h:65536/"), want: []string{`action.request.uri: has a port that is not in 1-65535`}},
		"uri syntax":    {request: uri("http://h/%zz?secret"), want: []string{`action.request.uri: is not a URI: invalid URL escape`}},
		"uri space":     {request: uri("http://h/?q=a b"), want: []string{`action.request.uri: must not contain spaces or control characters; a space is written %20`}},
		"uri long": {
			request: uri("http://h/" + strings.Repeat("ä", 2040)),
			want:    []string{`action.request.uri: is 2049 characters long, at most 2048 are allowed`},
		},
		"method kind": {request: `{"uri":"http://h/","method":1}`, want: []string{`action.request.method: must be a string, not a number`}},
		"body kind":   {request: `{` + ok + `,"body":{"a":1}}`, want: []string{`action.request.body: must be a string, not an object`}},
		"body long": {
			request: `{` + ok + `,"body":"` + strings.Repeat("ä", 8193) + `"}`,
			want:    []string{`action.request.body: is 8193 characters long, at most 8192 are allowed`},
		},
		"headers kind":      {request: headers(`[]`), want: []string{`action.request.headers: must be an object, not an array`}},
		"header kind":       {request: headers(`{"A":1}`), want: []string{`action.request.headers.A: must be a string, not a number`}},
		"header refused":    {request: headers(`{"content-length":"1"}`), want: []string{`action.request.headers.content-length: is set by the scheduler and cannot be given`}},
		"header framing":    {request: headers(`{"Transfer-Encoding":"chunked"}`), want: []string{`action.request.headers.Transfer-Encoding: is set by the scheduler and cannot be given`}},
		"header connection": {request: headers(`{"Connection":"close"}`), want: []string{`action.request.headers.Connection: is set by the scheduler and cannot be given`}},
		"header break":      {request: headers(`{"A":"b\r\nC: d"}`), want: []string{`action.request.headers.A: must not contain line breaks or control characters`}},
		"header twice":      {request: headers(`{"X-A":"1","x-a":"2"}`), want: []string{`action.request.headers.x-a: is given twice, in different letter case`}},
		"host twice":        {request: headers(`{"Host":"a","host":"b"}`), want: []string{`action.request.headers.host: is given twice, in different letter case`}},
		"host":              {request: headers(`{"Host":"a/b"}`), want: []string{`action.request.headers.Host: is not a host name with an optional port`}},
		"headers many": {
			request: headers(manyHeaders(51, "")),
			want:    []string{`action.request.headers: has 51 headers, at most 50 are allowed`},
		},
		"headers long": {
			request: headers(`{"A":"` + strings.Repeat("b", 4096) + `"}`),
			want:    []string{`action.request.headers: names and values are 4097 characters long together, at most 4096 are allowed`},
		},
		"status kind":    {request: success(`{"status":"2xx"}`), want: []string{`action.request.success.status: must be an array, not a string`}},
		"status number":  {request: success(`{"status":[200]}`), want: []string{`action.request.success.status[0]: must be a string, not a number`}},
		"status none":    {request: success(`{"status":[]}`), want: []string{`action.request.success.status: must name at least one status`}},
		"status range":   {request: success(`{"status":["200","600"]}`), want: []string{`action.request.success.status[1]: "600" is not in 100-599`}},
		"status reverse": {request: success(`{"status":["299-200"]}`), want: []string{`action.request.success.status[0]: "299-200" ends before it begins`}},
		"success member": {request: success(`{"states":["2xx"]}`), want: []string{`action.request.success.states: unknown field; did you mean "status"?`}},
		"contains long": {
			request: success(`{"bodyContains":"` + strings.Repeat("a", 1025) + `"}`),
			want:    []string{`action.request.success.bodyContains: is 1025 characters long, at most 1024 are allowed`},
		},
		"contains of HEAD": {
			request: `{"uri":"http://h/","method":"head","success":{"bodyContains":"a"}}`,
			want:    []string{`action.request.success.bodyContains: does not go with HEAD, whose answer has no body`},
		},
		"redirects kind":      {request: `{` + ok + `,"redirects":"1"}`, want: []string{`action.request.redirects: must be a whole number, not a string`}},
		"authentication none": {request: `{` + ok + `,"authentication":{}}`, want: []string{`action.request.authentication.type: is required`}},
		"authentication unknown": {
			request: `{` + ok + `,"authentication":{"type":"Digest"}}`,
			want:    []string{`action.request.authentication.type: "Digest" is not one of NotSpecified, Basic, ClientCertificate, ActiveDirectoryOAuth, OAuth2`},
		},
		"unknown member": {request: `{` + ok + `,"url":"http://h/"}`, want: []string{`action.request.url: unknown field; did you mean "uri"?`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.kind == "" {
				test.kind = "Http"
			}
			action, err := read(t, web.New(web.Config{}), test.kind, test.request)
			if err == nil || action != nil {
				t.Fatalf("got %v, %v; want no action and an error", action, err)
			}
			if diff := cmp.Diff(test.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// uri, headers and success return a request that is right but for the member
// of that name.
func uri(s string) string {
	return `{"uri":` + string(document.StringValue(s).JSON()) + `,"method":"get"}`
}
func headers(s string) string { return `{"uri":"http://h/","method":"get","headers":` + s + `}` }
func success(s string) string { return `{"uri":"http://h/","method":"get","success":` + s + `}` }

func manyHeaders(n int, value string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"X-%d":%q`, i, value))
	}
	return `{` + strings.Join(list, ",") + `}`
}

func TestReadActionAccepts(t *testing.T) {
	for name, request := range map[string]string{
		"method case":     `{"uri":"http://h/","method":"oPtIonS"}`,
		"null members":    `{"uri":"http://h/","method":"GET","headers":null,"body":null,"success":null,"redirects":null,"authentication":null}`,
		"null header":     headers(`{"Content-Length":null}`),
		"body of GET":     `{"uri":"http://h/","method":"GET","body":"x"}`,
		"body of HEAD":    `{"uri":"http://h/","method":"HEAD","body":"x"}`,
		"longest body":    `{"uri":"http://h/","method":"PUT","body":"` + strings.Repeat("ä", 8192) + `"}`,
		"longest uri":     uri("http://h/" + strings.Repeat("a", 2039)),
		"most headers":    headers(manyHeaders(50, "a")),
		"longest headers": headers(`{"A":"` + strings.Repeat("ä", 4095) + `"}`),
		"odd header":      headers("{\"!#$%&'*+-.^_`|~09aZ\":\"\\t ~é\"}"),
		"statuses":        success(`{"status":["200","2XX","301-308","404"],"bodyContains":""}`),
		"not specified":   `{"uri":"http://h/","method":"GET","authentication":{"type":"notSpecified"}}`,
		"https by Http":   uri("HTTPS://h/"),
		"IPv6":            uri("http://[::1]:8080/"),
	} {
		t.Run(name, func(t *testing.T) {
			mustRead(t, web.New(web.Config{}), "HTTP", request)
		})
	}
}

func TestTarget(t *testing.T) {
	for _, test := range [][2]string{
		{"http://Example.COM", "example.com:80"},
		{"https://example.com/a?b", "example.com:443"},
		{"http://example.com:8080", "example.com:8080"},
		{"HTTPS://[2001:DB8::1]/", "[2001:db8::1]:443"},
	} {
		action := mustRead(t, web.New(web.Config{}), "Http", uri(test[0]))
		if got := action.Target(); got != test[1] {
			t.Errorf("target of %s: got %s, want %s", test[0], got, test[1])
		}
	}
}

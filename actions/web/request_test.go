package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestRefused has one document for each message of validation.
func TestRefused(t *testing.T) { actiontest.CheckRefusals(t, newClient(t, web.Config{})) }

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

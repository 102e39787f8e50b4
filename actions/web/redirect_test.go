package web_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/web"
)

// TestRedirectMethod checks what becomes of each method and its body.
func TestRedirectMethod(t *testing.T) {
	const full = "application/json {}"
	tests := []struct {
		status       int
		method, want string // want: method, content type and body of the second request
	}{
		{301, "GET", "GET " + full},
		{302, "GET", "GET " + full},
		{303, "GET", "GET " + full},
		{307, "GET", "GET " + full},
		{308, "GET", "GET " + full},
		{301, "HEAD", "HEAD " + full},
		{303, "HEAD", "HEAD " + full},
		{301, "POST", "GET  "},
		{302, "POST", "GET  "},
		{303, "POST", "GET  "},
		{307, "POST", "POST " + full},
		{308, "POST", "POST " + full},
		{301, "PUT", "PUT " + full},
		{302, "DELETE", "DELETE " + full},
		{303, "PUT", "GET  "},
		{307, "PATCH", "PATCH " + full},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.status, test.method), func(t *testing.T) {
			server := listen(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					w.Header().Set("Location", "/next?a=b c")
					w.WriteHeader(test.status)
				}
			})
			result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":%q,"method":%q,"body":"{}"}`, server.URL, test.method))
			if result.Failed || result.Status != 200 {
				t.Fatal(result.Message)
			}
			note := " after 1 redirect: 'OK'"
			if !strings.HasPrefix(test.want, test.method) {
				note = " after 1 redirect as GET: 'OK'"
			}
			if !strings.Contains(result.Message, note) {
				t.Errorf("message: %s", result.Message)
			}
			got := server.seen()[1]
			if s := got.Method + " " + got.Header.Get("Content-Type") + " " + got.Body; s != test.want || got.Path != "/next?a=b%20c" {
				t.Errorf("got %s to %s, want %s", s, got.Path, test.want)
			}
			if got.Header.Get("Idempotency-Key") != attempt().Key {
				t.Errorf("the idempotency key was lost: %v", got.Header)
			}
		})
	}
}

// TestRedirectLimit follows a chain of 3 redirects.
func TestRedirectLimit(t *testing.T) {
	for limit, want := range map[int]struct {
		status  int
		message string
	}{
		0:  {302, "': 'Found' Response Headers:"},
		2:  {302, " after 2 redirects: 'Found' (more than 2 redirects were asked for) Response Headers:"},
		3:  {200, " after 3 redirects: 'OK' Response Headers:"},
		20: {200, " after 3 redirects: 'OK' Response Headers:"},
	} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			server := listen(t, func(w http.ResponseWriter, r *http.Request) {
				if hop, _ := strconv.Atoi(r.URL.Path[1:]); hop < 3 {
					http.Redirect(w, r, "/"+strconv.Itoa(hop+1), http.StatusFound)
				}
			})
			result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":%q,"method":"GET","redirects":%d}`, server.URL, limit))
			if result.Status != want.status || result.Failed != (want.status == 302) || !strings.Contains(result.Message, want.message) {
				t.Errorf("got %+v", result)
			}
			if n := len(server.seen()); n != min(limit, 3)+1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestRedirectTooManyIsFailure holds even if the last status would do.
func TestRedirectTooManyIsFailure(t *testing.T) {
	server := listen(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":%q,"method":"GET","redirects":1,"success":{"status":["302"]}}`, server.URL))
	if !result.Failed {
		t.Error(result.Message)
	}
}

// TestRedirectAsAnswer takes a redirect for the answer.
func TestRedirectAsAnswer(t *testing.T) {
	server := listen(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/next", http.StatusFound) })
	result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":%q,"method":"GET","redirects":0,"success":{"status":["3xx"]}}`, server.URL))
	if result.Failed || len(server.seen()) != 1 {
		t.Error(result.Message)
	}
}

// TestRedirectLocation has answers that lead nowhere.
func TestRedirectLocation(t *testing.T) {
	for location, want := range map[string]string{
		"":               "': 'Found' Response Headers:",
		"ftp://h/":       ` (its Location must begin with http:// or https://)`,
		"http://u:p@h/":  " (its Location must not hold a user name or password",
		"http://h/%zz":   " (its Location is not a URI)",
		"http://h:99999": " (its Location has a port that is not in 1-65535)",
	} {
		t.Run(location, func(t *testing.T) {
			server := listen(t, func(w http.ResponseWriter, _ *http.Request) {
				if location != "" {
					w.Header().Set("Location", location)
				}
				w.WriteHeader(http.StatusFound)
			})
			result := invoke(t, newClient(t, web.Config{}), uri(server.URL))
			if !result.Failed || result.Status != 302 || !strings.Contains(result.Message, want) {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestRedirectCredentials checks which headers reach the next host. The hosts
// exist in the transport only.
func TestRedirectCredentials(t *testing.T) {
	const request = `{"uri":%q,"method":"GET","headers":{"Authorization":"a","Cookie":"b","X-Api-Key":"c","Private-Token":"d",
		"X-Hub-Signature":"e","Accept":"f","Idempotency-Key":"g","Host":"virtual"}}`
	all := []string{"Accept", "Authorization", "Cookie", "Idempotency-Key", "Private-Token", "X-Api-Key", "X-Hub-Signature"}
	harmless := []string{"Accept", "Idempotency-Key"}
	for _, test := range []struct {
		from, to string
		want     []string
		host     string
	}{
		{"http://a/", "/next", all, "virtual"},
		{"http://a/", "http://A:80/next", all, "virtual"},
		{"http://a/", "https://a/next", all, ""},
		{"https://a/", "http://a/next", harmless, ""},
		{"http://a/", "http://b/next", harmless, ""},
		{"http://a/", "http://a:8080/next", harmless, ""},
		{"http://a:8080/", "https://a/next", harmless, ""},
		{"http://a/", "http://sub.a/next", harmless, ""},
		{"http://[::1]/", "https://[::1]/next", all, ""},
	} {
		t.Run(test.from+" "+test.to, func(t *testing.T) {
			var last *http.Request
			client := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
				last = req
				if req.URL.Path != "/next" {
					return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {test.to}}}, nil
				}
				return &http.Response{StatusCode: http.StatusOK}, nil
			})})
			if result := invoke(t, client, fmt.Sprintf(request, test.from)); result.Failed {
				t.Fatal(result.Message)
			}
			var got []string
			for _, name := range all {
				if last.Header.Get(name) != "" {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if last.Host != test.host {
				t.Errorf("host: %q, want %q", last.Host, test.host)
			}
		})
	}
}

package egress_test

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// parse parses URLs that are right.
func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	return must.Get(url.Parse(text))(t)
}

// TestRouteCheck has what a proxy must not be asked for.
func TestRouteCheck(t *testing.T) {
	const (
		loopback = "127.0.0.1, a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it"
		metadata = "169.254.169.254, a link-local address, which jobs must not reach"
		odd      = " is neither a name nor an address in its usual form"
	)
	proxy := parse(t, "http://10.0.0.1:3128")
	r := egress.Route{Guard: egress.NewGuard(netip.MustParsePrefix("10.1.0.0/16")), Proxy: proxy}
	for text, want := range map[string]string{
		"http://target.example/":            "",
		"http://localhost.example/":         "",
		"http://metadata.example:80/":       "",
		"http://10.1.2.3/":                  "",
		"https://1.2.3.4:444/":              "",
		"http://0xg.example/":               "",
		"http://localhost/":                 `"localhost" stands for ` + loopback,
		"https://LocalHost.:8443/":          `"localhost" stands for ` + loopback,
		"http://a.b.localhost/":             `"a.b.localhost" stands for ` + loopback,
		"http://ip6-localhost/":             `"ip6-localhost" stands for ::1, a loopback address, which jobs must not reach; --allow-target ::1/128 allows it`,
		"http://metadata/":                  `"metadata" stands for ` + metadata,
		"http://Metadata.Google.Internal./": `"metadata.google.internal" stands for ` + metadata,
		"http://instance-data/latest/":      `"instance-data" stands for ` + metadata,
		"http://127.0.0.1/":                 "127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it",
		"http://[::1]:81/":                  "::1 is a loopback address, which jobs must not reach; --allow-target ::1/128 allows it",
		"http://127.1/":                     `"127.1"` + odd,
		"http://2130706433/":                `"2130706433"` + odd,
		"http://0X7F.1./":                   `"0x7f.1."` + odd,
		"http://./":                         `"."` + odd,
	} {
		err := r.Check(parse(t, text))
		if _, refused := errors.AsType[*egress.RefusedError](err); refused != (want != "") || refused && err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
		if err := (egress.Route{Proxy: proxy}).Check(parse(t, text)); err != nil {
			t.Errorf("%s: without a guard: %v", text, err)
		}
		if err := (egress.Route{Guard: r.Guard}).Check(parse(t, text)); err != nil {
			t.Errorf("%s: without a proxy: %v", text, err)
		}
	}
}

// TestRouteAllowed has names whose addresses may be reached.
func TestRouteAllowed(t *testing.T) {
	g := egress.NewGuard()
	g.AllowAddr(netip.MustParseAddrPort("127.0.0.1:80"), netip.MustParseAddrPort("127.0.0.1:443"))
	r := egress.Route{Guard: g, Proxy: parse(t, "http://10.0.0.1:3128")}
	for text, want := range map[string]bool{
		"http://localhost/": true, "https://localhost/": true, "http://localhost:81/": false, "http://metadata/": false,
	} {
		if err := r.Check(parse(t, text)); (err == nil) != want {
			t.Errorf("%s: %v, want allowed: %t", text, err, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) { // so that dates do not move
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, test := range []struct {
			name, value string
			want        time.Duration
		}{
			{"Retry-After", "", 0},
			{"Retry-After", "soon", 0},
			{"Retry-After", "-1", 0},
			{"Retry-After", "0", 0},
			{"Retry-After", "7", 7 * time.Second},
			{"Retry-After", strconv.Itoa(1 << 40), egress.MaxRetryAfter},
			{"Retry-After", "99999999999999999999999", egress.MaxRetryAfter},
			{"Retry-After", at(90 * time.Second), 90 * time.Second},
			{"Retry-After", at(-time.Hour), 0},
			{"Retry-After", at(1000 * time.Hour), egress.MaxRetryAfter},
			{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
			{"X-Ms-Retry-After-Ms", "250", 250 * time.Millisecond},
			{"X-Ms-Retry-After-Ms", at(time.Hour), 0},
		} {
			if got := egress.RetryAfter(http.Header{test.name: {test.value}}); got != test.want {
				t.Errorf("%s: %s: got %v, want %v", test.name, test.value, got, test.want)
			}
		}
		both := http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"6500"}}
		if got := egress.RetryAfter(both); got != 6500*time.Millisecond {
			t.Errorf("the finer one: got %v", got)
		}
	})
}

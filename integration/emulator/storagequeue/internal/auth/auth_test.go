package auth

import (
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

var (
	now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	key = []byte("key")
)

func code(err error) string {
	if err == nil {
		return ""
	}
	return err.(wire.Error).Code //nolint:errorlint // it is one
}

func TestParseAuthorization(t *testing.T) {
	tests := []struct {
		header string
		want   authorization
		ok     bool
	}{
		{"SharedKey account:AAAA=", authorization{sharedKey, "account", "AAAA="}, true},
		{"  SharedKeyLite   account:A:B", authorization{sharedKeyLite, "account", "A:B"}, true},
		{"SharedKey account", authorization{}, false},
		{"SharedKey :A", authorization{}, false},
		{"SharedKey account:", authorization{}, false},
		{"Bearer account:A", authorization{}, false},
		{"SharedKey", authorization{}, false},
		{"", authorization{}, false},
	}
	for _, test := range tests {
		got, ok := parseAuthorization(test.header)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%q: got %+v, %v", test.header, got, ok)
		}
	}
}

// TestStringToSign has the examples of the documentation, in the shape of a queue's URL.
func TestStringToSign(t *testing.T) {
	r := &Request{
		Method: http.MethodPut, Path: "/myaccount/my%2Dqueue", Account: "myaccount", Length: 11,
		Query: url.Values{"Comp": {"metadata"}, "a": {"2", "1"}, "timeout": {"20"}},
		Header: http.Header{
			"X-Ms-Date": {"Fri, 26 Jun 2015 23:39:12 GMT"}, "X-Ms-Version": {" 2015-02-21 "}, "X-Ms-Meta-A": {"x", "y"},
			"Date": {"ignored"}, "Content-Type": {"text/plain"}, "Content-Md5": {"md5"}, "Range": {"bytes=0-1"}, "If-Match": {"tag"},
		},
	}
	const headers = "x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-meta-a:x,y\nx-ms-version:2015-02-21\n"
	const full = "PUT\n\n\n11\nmd5\ntext/plain\n\n\ntag\n\n\nbytes=0-1\n" + headers + "/myaccount/myaccount/my%2Dqueue\na:1,2\ncomp:metadata\ntimeout:20"
	if got := r.stringToSign(sharedKey, r.Path); got != full {
		t.Errorf("got %q\nwant %q", got, full)
	}
	r.Query.Set("comp", "metadata")
	const lite = "PUT\nmd5\ntext/plain\n\n" + headers + "/myaccount/myaccount/my%2Dqueue?comp=metadata"
	if got := r.stringToSign(sharedKeyLite, r.Path); got != lite {
		t.Errorf("got %q\nwant %q", got, lite)
	}
	r.Header.Del("X-Ms-Date")
	r.Length = 0
	const dated = "PUT\n\n\n\nmd5\ntext/plain\nignored\n\ntag\n\n\nbytes=0-1\nx-ms-meta-a:x,y\nx-ms-version:2015-02-21\n/myaccount/"
	if got := r.stringToSign(sharedKey, "/"); got[:len(dated)] != dated {
		t.Errorf("got %q\nwant %q", got, dated)
	}
}

func TestHeader(t *testing.T) {
	for _, test := range []struct {
		name string
		path string
		sign string // the path that is signed
		date time.Time
		code string
	}{
		{"primary", "/account/q", "/account/q", now, ""},
		{"old", "/account/q", "/account/q", now.Add(-15 * time.Minute), ""},
		{"too old", "/account/q", "/account/q", now.Add(-16 * time.Minute), "AuthenticationFailed"},
		{"too new", "/account/q", "/account/q", now.Add(16 * time.Minute), "AuthenticationFailed"},
		{"no time", "/account/q", "/account/q", time.Time{}, "AuthenticationFailed"},
		{"another path", "/account/q", "/account/p", now, "AuthenticationFailed"},
		{"secondary", "/account-secondary/q", "/account-secondary/q", now, ""},
		{"secondary, signed as primary", "/account-secondary/q", "/account/q", now, ""},
		{"without account", "/q", "/q", now, ""},
	} {
		r := Request{Method: "GET", Path: test.path, Account: "account", Header: http.Header{}}
		if !test.date.IsZero() {
			r.Header.Set("X-Ms-Date", test.date.Format(http.TimeFormat))
		}
		signature := base64.StdEncoding.EncodeToString(sign(key, r.stringToSign(sharedKey, test.sign)))
		r.Header.Set("Authorization", "SharedKey account:"+signature)
		if err := Verify(r, key, nil, now); code(err) != test.code {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
	if err := Verify(Request{Header: http.Header{}}, key, nil, now); code(err) != "NoAuthenticationInformation" {
		t.Errorf("nothing: got %v", err)
	}
}

func TestSASStringToSign(t *testing.T) {
	s := sas{
		services: "bq", types: "sco", permissions: "raup", start: "2026-01-01", expiry: "2027-01-01", policy: "p", source: "1.2.3.4",
		protocol: "https", scope: "scope",
	}
	for _, test := range []struct {
		account bool
		version string
		want    string
	}{
		{false, "2012-02-12", "raup\n2026-01-01\n2027-01-01\n/account/queue\np\n2012-02-12"},
		{false, "2015-02-21", "raup\n2026-01-01\n2027-01-01\n/queue/account/queue\np\n2015-02-21"},
		{false, "2020-02-10", "raup\n2026-01-01\n2027-01-01\n/queue/account/queue\np\n1.2.3.4\nhttps\n2020-02-10"},
		{false, "2026-04-06", "raup\n2026-01-01\n2027-01-01\n/queue/account/queue\np\n1.2.3.4\nhttps\n2026-04-06"},
		{true, "2020-02-10", "account\nraup\nbq\nsco\n2026-01-01\n2027-01-01\n1.2.3.4\nhttps\n2020-02-10\n"},
		{true, "2020-12-06", "account\nraup\nbq\nsco\n2026-01-01\n2027-01-01\n1.2.3.4\nhttps\n2020-12-06\nscope\n"},
	} {
		s.account, s.version = test.account, test.version
		if got := s.stringToSign("account", "queue"); got != test.want {
			t.Errorf("%v %s: got %q", test.account, test.version, got)
		}
	}
}

// signedQuery returns a query with its signature.
func signedQuery(query string) url.Values {
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	s := readSAS(values)
	values.Set("sig", base64.StdEncoding.EncodeToString(sign(key, s.stringToSign("account", "queue"))))
	return values
}

func TestSAS(t *testing.T) {
	stored := func(id string) (wire.Policy, bool) {
		switch id {
		case "whole":
			return wire.Policy{ID: id, Start: now.Add(-time.Hour), Expiry: now.Add(time.Hour), Permission: "a"}, true
		case "half":
			return wire.Policy{ID: id, Permission: "a"}, true
		}
		return wire.Policy{}, false
	}
	const service = "sv=2020-02-10&sp=a&se=2026-01-03"
	const account = "sv=2020-02-10&sp=a&se=2026-01-03T00:00:00Z&ss=bq&srt=o"
	for _, test := range []struct {
		query, code string
	}{
		{service, ""},
		{service + "&st=2026-01-02", ""},
		{service + "&st=2026-01-02T03:04:05Z", ""},
		{service + "&st=2026-01-02T03:04:06Z", "AuthenticationFailed"},
		{service + "&st=yesterday", "AuthenticationFailed"},
		{"sv=2020-02-10&sp=a&se=2026-01-02T03:04:05Z", "AuthenticationFailed"}, // now
		{"sv=2020-02-10&sp=a&se=2026-01-02T03:05Z", ""},
		{"sv=2020-02-10&sp=a&se=never", "AuthenticationFailed"},
		{"sv=2020-02-10&sp=a", "AuthenticationFailed"},
		{"sp=a&se=2026-01-03", "AuthenticationFailed"},
		{"sv=2011-01-01&sp=a&se=2026-01-03", "AuthenticationFailed"},
		{"sv=latest&sp=a&se=2026-01-03", "AuthenticationFailed"},
		{"sv=2020-02-10&sp=rup&se=2026-01-03", "AuthorizationPermissionMismatch"},
		{service + "&spr=https", "AuthorizationProtocolMismatch"},
		{service + "&spr=https,http", ""},
		{service + "&spr=ftp", "AuthenticationFailed"},
		{service + "&sip=127.0.0.1", ""},
		{service + "&sip=127.0.0.0-127.0.0.2", ""},
		{service + "&sip=10.0.0.1", "AuthorizationSourceIPMismatch"},
		{service + "&sip=home", "AuthenticationFailed"},
		{"sv=2020-02-10&si=whole", ""},
		{"sv=2020-02-10&si=whole&sp=a", "AuthenticationFailed"},
		{"sv=2020-02-10&si=half&se=2026-01-03", ""},
		{"sv=2020-02-10&si=half", "AuthenticationFailed"},
		{"sv=2020-02-10&si=nobody", "AuthenticationFailed"},
		{account, ""},
		{"sv=2020-02-10&sp=a&se=2026-01-03&ss=b&srt=o", "AuthorizationServiceMismatch"},
		{"sv=2020-02-10&sp=a&se=2026-01-03&ss=q&srt=sc", "AuthorizationResourceTypeMismatch"},
		{"sv=2020-02-10&sp=rwdlcup&se=2026-01-03&ss=q&srt=sco", "AuthorizationPermissionMismatch"},
		{"sv=2020-02-10&sp=a&se=2026-01-03&srt=o", "AuthenticationFailed"},
		{"sv=2014-02-14&sp=a&se=2026-01-03&ss=q&srt=o", "AuthenticationFailed"},
	} {
		r := Request{
			Account: "account", Queue: "queue", Query: signedQuery(test.query), Header: http.Header{},
			Remote: netip.MustParseAddr("::ffff:127.0.0.1"), Need: Need{Resource: 'o', Account: "a", Queue: "a"},
		}
		if err := Verify(r, key, stored, now); code(err) != test.code {
			t.Errorf("%s: got %v", test.query, err)
		}
		r.Query.Set("sig", "AAAA")
		if err := Verify(r, key, stored, now); code(err) != "AuthenticationFailed" {
			t.Errorf("%s with a wrong signature: got %v", test.query, err)
		}
	}
	r := Request{Account: "account", Query: signedQuery(service), Header: http.Header{}}
	if err := Verify(r, key, nil, now); code(err) != "AuthenticationFailed" {
		t.Errorf("the signature of a queue for an account: got %v", err)
	}
}

// TestNothingIsPermitted has operations that no signature may do.
func TestNothingIsPermitted(t *testing.T) {
	for query, want := range map[string]string{
		"sv=2020-02-10&sp=raup&se=2026-01-03":                  "AuthorizationFailure",
		"sv=2020-02-10&sp=rwdlacup&se=2026-01-03&ss=q&srt=sco": "AuthorizationPermissionMismatch",
	} {
		r := Request{Account: "account", Queue: "queue", Query: signedQuery(query), Header: http.Header{}, Need: Need{Resource: 'c'}}
		if err := Verify(r, key, nil, now); code(err) != want {
			t.Errorf("%s: got %v", query, err)
		}
	}
}

// FuzzAuthorization reads any header and any query. Without the key nothing gets in.
func FuzzAuthorization(f *testing.F) {
	f.Add("SharedKey account:AAAA", "sv=2020-02-10&sp=a&se=2026-01-03&sig=AAAA", "/account-secondary/q")
	f.Add("", "sv=2020-02-10&si=p&sip=1.2.3.4-5&spr=https&sig=AAAA", "/")
	f.Add("", "sv=2020-02-10&ss=q&srt=sco&sp=rwdlacup&se=2026-01-03&st=2026-01-01&ses=x&sig=AAAA", "")
	f.Fuzz(func(t *testing.T, header, query, path string) {
		values, _ := url.ParseQuery(query)
		r := Request{
			Method: "GET", Path: path, Account: "account", Queue: "queue", Query: values,
			Header: http.Header{"Authorization": {header}, "X-Ms-Date": {now.Format(http.TimeFormat)}},
		}
		if err := Verify(r, key, func(string) (wire.Policy, bool) { return wire.Policy{}, true }, now); err == nil {
			t.Errorf("%q %q got in", header, query)
		} else {
			_ = code(err)
		}
		// With a right signature the rest of it is read as well.
		s := readSAS(values)
		r.Header.Del("Authorization")
		r.Query.Set("sig", base64.StdEncoding.EncodeToString(sign(key, s.stringToSign("account", "queue"))))
		_ = code(Verify(r, key, func(string) (wire.Policy, bool) { return wire.Policy{}, true }, now))
	})
}

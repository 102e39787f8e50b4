package identity_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// bucket holds tokens in memory. It has no watch.
type bucket struct {
	scheduler.Bucket // for what is not asked here

	values map[string]scheduler.Stored
	loads  int
	err    error
	ledger *bucket
}

func newBucket() *bucket { return &bucket{values: map[string]scheduler.Stored{}} }

func (b *bucket) Load(_ context.Context, name string) (scheduler.Stored, error) {
	b.loads++
	st, ok := b.values[name]
	if !ok {
		return st, scheduler.ErrNotFound
	}
	return st, b.err
}

func (b *bucket) Save(_ context.Context, name string, data []byte, _ uint64) (uint64, error) {
	b.values[name] = scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: 1, Data: data}
	return 1, nil
}

func (*bucket) Remove(context.Context, string, uint64) error { return nil }

func (b *bucket) Each(_ context.Context, f func(scheduler.Stored) error) error {
	for _, st := range b.values {
		if err := f(st); err != nil {
			return err
		}
	}
	return b.err
}

func (*bucket) Watch(context.Context, func(), func(string, uint64, []byte)) error {
	return scheduler.ErrUnavailable
}

// anIssuer takes one token.
type anIssuer struct{}

func (anIssuer) Verify(_ context.Context, token string) (*auth.Principal, error) {
	if token != "ey.good.one" {
		return nil, &auth.Unknown{Reason: "the issuer's is another one"}
	}
	return &auth.Principal{Name: "alice", Via: auth.ViaOIDC}, nil
}

// request is one from an address, with headers "Name: value".
func request(address string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.RemoteAddr = address + ":1234"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// outcome is who somebody is, or why that is not known.
func outcome(f *identity.Authenticator, r *http.Request) string {
	p, err := f.Find(r)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s from %s: %v", p, p.Address, p.Grants)
}

// TestChange has requests judged by what was set last.
func TestChange(t *testing.T) {
	f := identity.New(identity.Config{})
	r := request("192.0.2.1", "Authorization: Bearer ey.good.one")
	for _, step := range []struct {
		cfg  identity.Config
		want string
	}{
		{identity.Config{Demand: identity.Always}, "this is not a token of this scheduler: those begin with crl_"},
		{identity.Config{Demand: identity.Always, Issuer: anIssuer{}}, "oidc alice from 192.0.2.1: []"},
		{identity.Config{Local: true}, "loopback from 192.0.2.1: [admin]"},
	} {
		f.Change(step.cfg)
		if got := outcome(f, r); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// TestWhoAsks finds out who asks in each of the ways, and refuses what is no way.
func TestWhoAsks(t *testing.T) {
	b := newBucket()
	b.ledger = newBucket()
	keeper := tokens.NewKeeper(b, b.ledger, time.Now)
	_, ci, err := keeper.Create(t.Context(), []byte(`{"name": "ci", "grants": [{"role": "reader"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	all := identity.Config{Demand: identity.Always, Tokens: keeper, Issuer: anIssuer{}}
	own := identity.Config{Demand: identity.OnceThereAre, Tokens: keeper}
	fresh := identity.Config{Demand: identity.OnceThereAre, Tokens: tokens.NewKeeper(newBucket(), newBucket(), time.Now), Local: true}
	issued := identity.Config{Demand: identity.OnceThereAre, Tokens: tokens.NewKeeper(newBucket(), newBucket(), time.Now), Issuer: anIssuer{}}
	tests := map[string]struct {
		cfg    identity.Config
		header []string
		want   string
	}{
		"nobody is asked":          {identity.Config{}, nil, "open from 192.0.2.1: [admin]"},
		"nor is a fake token":      {identity.Config{}, []string{"Authorization: Bearer fake"}, "open from 192.0.2.1: [admin]"},
		"no token yet":             {fresh, nil, "loopback from 192.0.2.1: [admin]"},
		"no token yet, but issuer": {issued, nil, "none was given"},
		"a token is there":         {own, nil, "none was given"},
		"token":                    {own, []string{"Authorization: Bearer " + ci}, "token ci from 192.0.2.1: [reader]"},
		"in lower case":            {own, []string{"Authorization: bearer  " + ci}, "token ci from 192.0.2.1: [reader]"},
		"issuer's":                 {all, []string{"Authorization: Bearer ey.good.one"}, "oidc alice from 192.0.2.1: []"},
		"another issuer's":         {all, []string{"Authorization: Bearer ey.bad.one"}, "the issuer's is another one"},
		"issuer's, not taken":      {own, []string{"Authorization: Bearer ey.good.one"}, "this is not a token of this scheduler: those begin with crl_"},
		"password":                 {all, []string{"Authorization: Basic YTpi"}, "no Bearer token"},
		"empty":                    {all, []string{"Authorization: Bearer "}, "no Bearer token"},
		"only the token":           {all, []string{"Authorization: " + ci}, "no Bearer token"},
		"two":                      {all, []string{"Authorization: Bearer " + ci, "Authorization: Bearer " + ci}, "several Authorization headers"},
		"nothing, but asked":       {identity.Config{Demand: identity.Always}, nil, "none was given"},
		"a token, but none kept":   {identity.Config{Demand: identity.Always}, []string{"Authorization: Bearer " + ci}, "not a token of this scheduler"},
	}
	for name, test := range tests {
		if got := outcome(identity.New(test.cfg), request("192.0.2.1", test.header...)); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	b.err = scheduler.ErrUnavailable
	if _, err := identity.New(own).Find(request("192.0.2.1", "Authorization: Bearer "+ci)); !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("a store that does not answer: %v", err)
	}
	b.values, b.ledger.err = nil, scheduler.ErrUnavailable
	unsure := identity.Config{Demand: identity.OnceThereAre, Tokens: tokens.NewKeeper(b, b.ledger, time.Now)}
	if _, err := identity.New(unsure).Find(request("192.0.2.1")); !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("a store that does not say whether there are tokens: %v", err)
	}
}

// TestGuessesAreBounded shows that an address which tries tokens is told to wait without a look at the store, while others
// and its own good token get in.
func TestGuessesAreBounded(t *testing.T) {
	b := newBucket()
	b.ledger = newBucket()
	keeper := tokens.NewKeeper(b, b.ledger, time.Now)
	f := identity.New(identity.Config{Demand: identity.Always, Tokens: keeper})
	_, good, err := keeper.Create(t.Context(), []byte(`{"grants": [{"role": "reader"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range 1000 {
		_, guess, err := tokens.NewKeeper(newBucket(), newBucket(), time.Now).Create(t.Context(), []byte(`{"grants": [{"role": "admin"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Find(request("192.0.2.66", "Authorization: Bearer "+guess))
		if _, ok := errors.AsType[*throttle.Exceeded](err); ok {
			refused++
		} else if _, ok := errors.AsType[*auth.Unknown](err); !ok {
			t.Fatal(err)
		}
	}
	if refused < 500 || b.loads > 500 {
		t.Errorf("%d guesses were refused, the store was read %d times", refused, b.loads)
	}
	if _, err := f.Find(request("192.0.2.1", "Authorization: Bearer "+good)); err != nil {
		t.Error(err)
	}
}

// keyIssuer is an issuer one of whose keys fails.
type keyIssuer struct{}

func (keyIssuer) Verify(_ context.Context, token string) (*auth.Principal, error) {
	if !strings.HasPrefix(token, jwt("good", "")) {
		return nil, &auth.Unknown{Reason: "the key is not known"}
	}
	return &auth.Principal{Name: "alice"}, nil
}

// jwt is a token of an issuer that names its key.
func jwt(key, signature string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"kid": "`+key+`"}`)) + "." + part([]byte(`{"iss": "https://issuer.test"}`)) + "." + signature
}

// TestFailingKeyLocksOutNobodyElse sends many tokens of a key that fails from one address: tokens of the issuer's other key, and
// those of the scheduler, are still taken from there.
func TestFailingKeyLocksOutNobodyElse(t *testing.T) {
	b := newBucket()
	keeper := tokens.NewKeeper(b, newBucket(), time.Now)
	_, own, err := keeper.Create(t.Context(), []byte(`{"grants": [{"role": "reader"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	f := identity.New(identity.Config{Demand: identity.Always, Tokens: keeper, Issuer: keyIssuer{}})
	find := func(token string) error {
		_, err := f.Find(request("192.0.2.1", "Authorization: Bearer "+token))
		return err
	}
	limited := false
	for range 200 {
		_, exceeded := errors.AsType[*throttle.Exceeded](find(jwt("failing", "x")))
		limited = limited || exceeded
	}
	if !limited {
		t.Error("tokens of the failing key are not limited")
	}
	for what, token := range map[string]string{"the other key": jwt("good", "x"), "the scheduler": own} {
		if err := find(token); err != nil {
			t.Errorf("a token of %s: %v", what, err)
		}
	}
}

// TestCertificates gives to names in client certificates what the rules say.
func TestCertificates(t *testing.T) {
	var rules []auth.Rule
	for _, text := range []string{"cn:ci=operator@partners", "dns:ops.example=admin", "uri:spiffe://x/y=reader@x", "ou:dev=reader", "email:a@b=reader@mail", "o:Corp=reader@corp"} {
		rules = append(rules, must.Get(auth.ParseRule(text))(t))
	}
	var untrusted error
	f := identity.New(identity.Config{
		Demand: identity.OnceThereAre, Certificates: rules, Tokens: tokens.NewKeeper(newBucket(), newBucket(), time.Now),
		Trusted: func([]*x509.Certificate) error { return untrusted },
	})
	spiffe := &url.URL{Scheme: "spiffe", Host: "x", Path: "/y"}
	for want, c := range map[string]*x509.Certificate{
		"certificate ci from 192.0.2.1: [operator@partners]":    {Subject: pkix.Name{CommonName: "ci"}},
		"certificate ops.example from 192.0.2.1: [admin]":       {DNSNames: []string{"ops.example"}},
		"certificate spiffe://x/y from 192.0.2.1: [reader@x]":   {URIs: []*url.URL{spiffe}},
		"certificate bo from 192.0.2.1: [reader reader@corp]":   {Subject: pkix.Name{CommonName: "bo", Organization: []string{"Corp"}, OrganizationalUnit: []string{"x", "dev"}}},
		"certificate a@b from 192.0.2.1: [reader@mail]":         {EmailAddresses: []string{"a@b"}},
		"certificate spiffe://x/y.evil.test from 192.0.2.1: []": {URIs: []*url.URL{{Scheme: "spiffe", Host: "x", Path: "/y.evil.test"}}},
		"certificate ops.example.evil.test from 192.0.2.1: []":  {DNSNames: []string{"ops.example.evil.test"}},
	} {
		r := request("192.0.2.1")
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c}}
		if got := outcome(f, r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r := request("192.0.2.1")
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Subject: pkix.Name{CommonName: "ci"}}}}
	untrusted = errors.New("it has expired")
	if got := outcome(f, r); !strings.Contains(got, "not trusted any more: it has expired") {
		t.Error(got)
	}
	r.TLS = &tls.ConnectionState{}
	if got := outcome(f, r); !strings.Contains(got, "none was given") {
		t.Error(got)
	}
}

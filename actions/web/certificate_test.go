package web_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// certificate makes a certificate that ends in 2049, signed by itself.
func certificate(t *testing.T, name string, key crypto.Signer) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1 << 60),
		Subject:      pkix.Name{CommonName: name, Organization: []string{"Carillon"}},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Date(2049, 5, 6, 7, 8, 9, 0, time.UTC),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return must.Get(x509.ParseCertificate(der))(t)
}

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	return must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
}

// pfx returns a PKCS#12 file in base64.
func pfx(t *testing.T, encoder *pkcs12.Encoder, key crypto.Signer, leaf *x509.Certificate, others ...*x509.Certificate) string {
	t.Helper()
	data := must.Get(encoder.Encode(key, leaf, others, "pa55"))(t)
	return base64.StdEncoding.EncodeToString(data)
}

// trusted is a TLS server that asks for client certificates, and a Config that
// trusts it.
func trusted(t *testing.T, policy tls.ClientAuthType, clients ...*x509.Certificate) (*httptest.Server, web.Config) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if list := r.TLS.PeerCertificates; len(list) > 0 {
			name = list[0].Subject.CommonName
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, name+" "+r.RemoteAddr)
	}))
	server.Config.ErrorLog = discardLog
	server.TLS = &tls.Config{ClientAuth: policy, ClientCAs: x509.NewCertPool()}
	for _, c := range clients {
		server.TLS.ClientCAs.AddCert(c)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, web.Config{RootCAs: roots}
}

// certified is a request with a client certificate.
func certified(uri, pfx, password string) string {
	return fmt.Sprintf(`{"uri":%q,"method":"GET","authentication":{"type":"ClientCertificate","pfx":%s,"password":%s}}`, uri, pfx, password)
}

func quoted(s string) string { return `"` + s + `"` }

func TestClientCertificate(t *testing.T) {
	alice, bob := newKey(t), newKey(t)
	a, b := certificate(t, "alice", alice), certificate(t, "bob", bob)
	server, config := trusted(t, tls.RequireAndVerifyClientCert, a, b)
	client := newClient(t, config)
	file := pfx(t, pkcs12.Modern, alice, a)
	literal := mustRead(t, client, "Https", certified(server.URL, quoted(file), quoted("pa55")))
	byName := mustRead(t, client, "Http", certified(server.URL, `{"secretRef":"pfx"}`, `{"secretRef":"password"}`))
	secrets := map[string]string{"pfx": file, "password": "pa55"}

	first := literal.Invoke(t.Context(), attempt())
	if first.Failed || !strings.HasPrefix(first.Response, "alice ") {
		t.Fatalf("got %+v", first)
	}
	if again := byName.Invoke(t.Context(), shared(secrets)); again.Response != first.Response {
		t.Errorf("one certificate has two connections: %s, %s", first.Response, again.Response)
	}
	secrets["pfx"] = pfx(t, pkcs12.LegacyDES, bob, b)
	if result := byName.Invoke(t.Context(), shared(secrets)); !strings.HasPrefix(result.Response, "bob ") {
		t.Errorf("after the shared secret changed: %+v", result)
	}
	secrets["password"] = "other"
	result := byName.Invoke(t.Context(), shared(secrets))
	if want := "Http Action - Client certificate failed: pfx cannot be opened: the password is wrong"; !result.Failed || result.Final || result.Message != want {
		t.Errorf("got  %+v\nwant %s", result, want)
	}
	host := strings.TrimPrefix(server.URL, "https://")
	wantFailure(t, byName.Invoke(t.Context(), shared(nil)), host, `shared secret "pfx": not found`)

	stranger := newKey(t)
	file = pfx(t, pkcs12.Modern, stranger, certificate(t, "stranger", stranger))
	result = mustRead(t, client, "Http", certified(server.URL, quoted(file), quoted("pa55"))).Invoke(t.Context(), attempt())
	if !result.Failed || result.Final || !strings.Contains(result.Message, "failed: TLS: the host answered: ") {
		t.Errorf("got %+v", result)
	}
	result = mustRead(t, client, "Http", uri(server.URL)).Invoke(t.Context(), attempt())
	if !result.Failed || !strings.Contains(result.Message, "failed: TLS: the host answered: certificate required") {
		t.Errorf("without a certificate: %+v", result)
	}
}

// TestClientCertificateRedirect checks that another host does not see the
// certificate, and the same host does.
func TestClientCertificateRedirect(t *testing.T) {
	key := newKey(t)
	c := certificate(t, "alice", key)
	one, config := trusted(t, tls.RequireAnyClientCert)
	other, _ := trusted(t, tls.RequestClientCert)
	client := newClient(t, config) // httptest's servers share one certificate
	file := quoted(pfx(t, pkcs12.Modern, key, c))
	for to, want := range map[string]string{one.URL: "alice ", other.URL: "nobody "} {
		u := one.URL + "/?to=" + url.QueryEscape(to)
		if result := invoke(t, client, certified(u, file, quoted("pa55"))); result.Failed || !strings.HasPrefix(result.Response, want) {
			t.Errorf("got %+v, want %s", result, want)
		}
	}
}

// TestCertificateShown checks what an answer tells of a certificate.
func TestCertificateShown(t *testing.T) {
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	leaf, caKey := certificate(t, "alice", key), newKey(t)
	file := quoted(pfx(t, pkcs12.LegacyRC2, key, leaf, certificate(t, "root", caKey)))
	const sent = `"CertificateThumbprint":"AA","certificateexpiration":"2000-01-01T00:00:00Z","certificateSubjectName":null`
	described := fmt.Sprintf(`"certificateThumbprint":"%X","certificateSubjectName":"CN=alice,O=Carillon",`+
		`"certificateExpiration":"2049-05-06T07:08:09Z","certificateExpirationDate":"2049-05-06T07:08:09Z"`, sha1.Sum(leaf.Raw))
	const plain = `"type":"ClientCertificate"`
	client := web.New(web.Config{})
	for name, test := range map[string]struct {
		authentication string
		stored         bool
		want           string
	}{
		"literal":   {`"type":"clientCertificate","pfx":` + file + `,"password":"pa55"`, false, plain + "," + described},
		"sent back": {sent + `,"type":"clientCertificate","pfx":` + file + `,"password":"pa55"`, false, plain + "," + described},
		"stored":    {`"type":"ClientCertificate","pfx":"not even read","password":"x","certificateThumbprint":"AA"`, true, plain + `,"certificateThumbprint":"AA"`},
		"basic":     {sent + `,"type":"Basic","username":"u","password":"p"`, false, `"type":"Basic","username":"u"`},
		"by name": {
			sent + `,"type":"ClientCertificate","pfx":{"secretRef":"a"},"password":{"secretRef":"b"}`, false,
			plain + `,"pfx":{"secretRef":"a"},"password":{"secretRef":"b"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			shown := must.Get(properties(t, client, `{"uri":"https://h/","method":"GET","authentication":{`+test.authentication+`}}`, test.stored))(t)
			got, _ := shown.Member("authentication")
			if diff := cmp.Diff("{"+test.want+"}", got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCertificateProblems(t *testing.T) {
	key, other := newKey(t), newKey(t)
	leaf := certificate(t, "alice", key)
	good := pfx(t, pkcs12.Modern, key, leaf)
	trust := must.Get(pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{leaf}, "pa55"))(t)
	for name, test := range map[string]struct {
		uri, pfx, password string
		want               string
	}{
		"missing":       {"https://h/", "", "", "action.request.authentication.pfx: is required"},
		"empty":         {"https://h/", `""`, `""`, "action.request.authentication.pfx: must not be empty"},
		"plain http":    {"http://h/", quoted(good), `"pa55"`, "action.request.uri: must begin with https:// for a client certificate"},
		"password":      {"https://h/", quoted(good), `"wrong"`, "action.request.authentication.password: is not the password of pfx"},
		"no password":   {"https://h/", quoted(good), "", "action.request.authentication.password: is not the password of pfx"},
		"base64":        {"https://h/", `"%"`, `"pa55"`, "action.request.authentication.pfx: is not base64"},
		"no key":        {"https://h/", quoted(base64.StdEncoding.EncodeToString(trust)), `"pa55"`, "action.request.authentication.pfx: is not a PKCS#12 file with a certificate and its private key: "},
		"another's key": {"https://h/", quoted(pfx(t, pkcs12.Modern, other, leaf)), `"pa55"`, "action.request.authentication.pfx: has a private key that belongs to none of its certificates"},
		"no pfx":        {"https://h/", `"` + base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE-----")) + `"`, `"pa55"`, "action.request.authentication.pfx: is not a PKCS#12 file (.pfx, .p12)"},
		"cut":           {"https://h/", quoted(good[:len(good)/8*4]), `"pa55"`, "action.request.authentication.pfx: is not a PKCS#12 file (.pfx, .p12)"},
	} {
		t.Run(name, func(t *testing.T) {
			members := ""
			if test.pfx != "" {
				members += `,"pfx":` + test.pfx
			}
			if test.password != "" {
				members += `,"password":` + test.password
			}
			_, err := read(t, web.New(web.Config{}),
				`{"uri":"`+test.uri+`","method":"GET","authentication":{"type":"ClientCertificate"`+members+`}}`)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "pa55") || strings.Contains(err.Error(), "asn1") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestCertificateBomb has files whose keys would take ages to derive.
func TestCertificateBomb(t *testing.T) {
	for name, rounds := range map[string][]int64{"mac": {1, 1 << 40}, "sum": {3_000_000, 3_000_000}, "largest": {1<<63 - 1}, "class": {-1}} {
		t.Run(name, func(t *testing.T) {
			type params struct {
				Salt   []byte
				Rounds int64
			}
			var parts []asn1.RawValue
			for _, n := range rounds {
				inner := must.Get(asn1.Marshal(params{[]byte("12345678"), max(n, 1<<40*-n)}))(t)
				if n < 0 {
					inner[2] |= 0x80 // the salt is of another class, which some readers do not look at
				}
				octets, err := asn1.Marshal(inner) // inside an octet string, as the parts of a file are
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, asn1.RawValue{FullBytes: octets})
			}
			file := must.Get(asn1.Marshal(parts))(t)
			_, problem := read(t, web.New(web.Config{}),
				certified("https://h/", quoted(base64.StdEncoding.EncodeToString(file)), `"pa55"`))
			if want := "action.request.authentication.pfx: asks for more than 5000000 rounds of key derivation"; problem == nil || problem.Error() != want {
				t.Errorf("got %v, want %s", problem, want)
			}
		})
	}
}

// TestCertificateBesideTransport tells why a certificate cannot be shown.
func TestCertificateBesideTransport(t *testing.T) {
	key := newKey(t)
	client := web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) { return response(200, ""), nil })})
	file := quoted(pfx(t, pkcs12.Modern, key, certificate(t, "alice", key)))
	result := invoke(t, client, certified("https://h/", file, `"pa55"`))
	want := "Http Action - Client certificate failed: pfx cannot be used: this process uses a custom transport"
	if !result.Failed || result.Message != want {
		t.Errorf("got %+v", result)
	}
}

package certificates_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/certificates/authority"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// newAuthority makes an authority.
func newAuthority(t *testing.T, name string) *authority.Authority {
	t.Helper()
	return must.Get(authority.New(name))(t)
}

// pair writes a certificate of this machine, or of a client, and its key; it returns the pair.
func pair(t *testing.T, a *authority.Authority, dir, name string, usage x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	return must.Get(a.Pair(dir, name, usage))(t)
}

// write writes the certificate of an authority.
func write(t *testing.T, path string, a *authority.Authority) {
	t.Helper()
	must.Do(t, a.Write(path))
}

// replace puts what is in one file in the place of another one, whole.
func replace(t *testing.T, path, by string) {
	t.Helper()
	data := must.Get(os.ReadFile(by))(t)
	must.Do(t, os.WriteFile(path+".new", data, 0o600))
	must.Do(t, os.Rename(path+".new", path))
}

// harness is a server over TLS, and its files.
type harness struct {
	t      *testing.T
	dir    string
	ca     *authority.Authority
	keeper *certificates.Keeper
	server *httptest.Server
	log    logtest.Log
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	w := &harness{t: t, dir: t.TempDir(), ca: newAuthority(t, "one")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	pair(t, w.ca, w.dir, "server", x509.ExtKeyUsageServerAuth)
	write(t, w.file("clients.crt"), w.ca)
	w.keeper = must.Get(certificates.Open(certificates.Files{
		Cert: w.file("server.crt"), Key: w.file("server.key"), ClientCA: w.file("clients.crt"),
	}, time.Millisecond, slog.New(slog.NewTextHandler(&w.log, nil))))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { w.keeper.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 {
			fmt.Fprint(out, "nobody")
			return
		}
		fmt.Fprint(out, r.TLS.PeerCertificates[0].Subject.CommonName, " ", w.keeper.Trusted(r.TLS.PeerCertificates) == nil)
	}))
	w.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug) // of handshakes that fail, as they should
	w.server.Listener = tls.NewListener(w.server.Listener, w.keeper.Config())
	w.server.Start()
	t.Cleanup(w.server.Close)
	return w
}

func (w *harness) file(name string) string { return filepath.Join(w.dir, name) }

// client returns a client that trusts an authority, and shows a certificate.
func (w *harness) client(ca *authority.Authority, pair ...tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert)
	cfg := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if len(pair) > 0 { // whether the server asks for one of its authority or not
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair[0], nil }
	}
	transport := &http.Transport{TLSClientConfig: cfg}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get asks the server who it says we are.
func (w *harness) get(c *http.Client) string {
	w.t.Helper()
	req := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodGet, strings.Replace(w.server.URL, "http://", "https://", 1), http.NoBody))(w.t)
	resp, err := c.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body := must.Get(io.ReadAll(resp.Body))(w.t)
	return string(body)
}

// TestSwappedCertificates exchanges the server's certificate and the authority of its clients while it runs. A standing
// connection goes on, but its certificate is trusted no more.
func TestSwappedCertificates(t *testing.T) {
	w := newHarness(t)
	other := newAuthority(t, "two")
	foreign := t.TempDir()
	ann, bob := pair(t, w.ca, w.dir, "ann", x509.ExtKeyUsageClientAuth), pair(t, other, foreign, "bob", x509.ExtKeyUsageClientAuth)
	standing := w.client(w.ca, ann)
	if got := w.get(standing); got != "ann true" {
		t.Errorf("a client with its certificate: %s", got)
	}
	if got := w.get(w.client(w.ca)); got != "nobody" {
		t.Errorf("a client without: %s", got)
	}
	if got := w.get(w.client(w.ca, bob)); !strings.Contains(got, "certificate") || strings.Contains(got, "bob") {
		t.Errorf("a client of another authority: %s", got)
	}
	server := pair(t, w.ca, w.dir, "as-client", x509.ExtKeyUsageServerAuth)
	if got := w.get(w.client(w.ca, server)); strings.Contains(got, "as-client") {
		t.Errorf("a server's certificate is taken of a client: %s", got)
	}

	pair(t, other, foreign, "server", x509.ExtKeyUsageServerAuth)
	write(t, filepath.Join(foreign, "clients.crt"), other)
	replace(t, w.file("server.key"), filepath.Join(foreign, "server.key"))
	must.Await(t, "a warning of a key without its certificate", func() bool { return strings.Contains(w.log.String(), "are invalid") })
	if got := w.get(w.client(w.ca)); got != "nobody" {
		t.Errorf("while the files do not fit: %s", got)
	}
	replace(t, w.file("server.crt"), filepath.Join(foreign, "server.crt"))
	replace(t, w.file("clients.crt"), filepath.Join(foreign, "clients.crt"))
	must.Await(t, "the new certificates", func() bool { return w.get(w.client(other, bob)) == "bob true" })
	if got := w.get(w.client(w.ca)); !strings.Contains(got, "unknown authority") {
		t.Errorf("the certificate before: %s", got)
	}
	if got := w.get(standing); got != "ann false" {
		t.Errorf("a standing connection of a client that is not trusted any more: %s", got)
	}
}

// TestBrokenCertificates shows that what cannot be used leaves what was, and is told once.
func TestBrokenCertificates(t *testing.T) {
	w := newHarness(t)
	for i, broken := range []string{"nonsense", ""} {
		next := filepath.Join(t.TempDir(), "clients.crt") // renamed, since a write in place may be seen half done
		must.Do(t, os.WriteFile(next, []byte(broken), 0o600))
		replace(t, w.file("clients.crt"), next)
		must.Await(t, "a warning", func() bool { return strings.Count(w.log.String(), "level=WARN") == i+1 })
		if got := w.get(w.client(w.ca)); got != "nobody" {
			t.Errorf("%q: %s", broken, got)
		}
	}
	must.Do(t, os.Remove(w.file("server.crt")))
	must.Await(t, "a warning", func() bool { return strings.Count(w.log.String(), "level=WARN") == 3 })
	if got := w.get(w.client(w.ca)); got != "nobody" || strings.Count(w.log.String(), "level=WARN") != 3 {
		t.Errorf("%s\n%s", got, w.log.String())
	}
}

// TestExpiredCertificate lets time pass until clients refuse the certificate, which the log says once.
func TestExpiredCertificate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir, log := t.TempDir(), &logtest.Log{}
		pair(t, newAuthority(t, "one"), dir, "server", x509.ExtKeyUsageServerAuth)
		k := must.Get(certificates.Open(certificates.Files{
			Cert: filepath.Join(dir, "server.crt"), Key: filepath.Join(dir, "server.key"),
		}, time.Minute, slog.New(slog.NewTextHandler(log, nil))))(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go k.Run(ctx)
		for _, want := range []int{0, 1, 1} {
			time.Sleep(59 * time.Minute) // it is good for an hour
			synctest.Wait()
			if got := strings.Count(log.String(), "the certificate has expired"); got != want {
				t.Errorf("told %d times, want %d: %s", got, want, log.String())
			}
		}
	})
}

// TestOldTLSIsRefused offers no more than TLS 1.1 (RFC 8996).
func TestOldTLSIsRefused(t *testing.T) {
	w := newHarness(t)
	c := w.client(w.ca)
	transport, _ := c.Transport.(*http.Transport)
	transport.TLSClientConfig.MinVersion, transport.TLSClientConfig.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if got := w.get(c); !strings.Contains(got, "protocol version") {
		t.Error(got)
	}
}

// TestOpen names the file that cannot be used.
func TestOpen(t *testing.T) {
	w := newHarness(t)
	good := certificates.Files{Cert: w.file("server.crt"), Key: w.file("server.key")}
	for want, change := range map[string]func(*certificates.Files){
		"tls-key":       func(f *certificates.Files) { f.Key = w.file("none") },
		"tls-cert":      func(f *certificates.Files) { f.Cert = w.file("clients.crt") },
		"tls-client-ca": func(f *certificates.Files) { f.ClientCA = w.file("server.key") },
	} {
		files := good
		change(&files)
		if _, err := certificates.Open(files, time.Hour, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

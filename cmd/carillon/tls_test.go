package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates/authority"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// certify makes the files of an authority and of certificates by it, for 127.0.0.1 and for clients.
func certify(ts *testscript.TestScript, _ bool, args []string) {
	_, err := certified(ts.MkAbs("."), args[0], args[1:]...)
	ts.Check(err)
}

// certified makes an authority, and certificates by it for 127.0.0.1 and for clients, in files of a directory.
func certified(dir, name string, leaves ...string) (*authority.Authority, error) {
	a, err := authority.New(name)
	if err != nil {
		return nil, err
	}
	if err := a.Write(filepath.Join(dir, name+".crt")); err != nil {
		return nil, err
	}
	for _, leaf := range leaves {
		if _, err := a.Pair(dir, leaf, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// knocking is a crowd of clients that each make one connection after the other, and say of which authority the
// server's certificate was.
type knocking struct {
	url    string
	roots  *x509.CertPool
	client tls.Certificate

	mu     sync.Mutex
	issuer map[string]int
	failed []error
	stop   atomic.Bool
	done   sync.WaitGroup
}

func (k *knocking) start(n int) {
	k.issuer = map[string]int{}
	for range n {
		k.done.Go(func() {
			for !k.stop.Load() {
				issuer, err := k.knock()
				k.mu.Lock()
				k.issuer[issuer]++
				if err != nil {
					k.failed = append(k.failed, err)
				}
				k.mu.Unlock()
			}
		})
	}
}

// knock asks over a new connection, and returns who signed the server's certificate.
func (k *knocking) knock() (issuer string, err error) {
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: k.roots, Certificates: []tls.Certificate{k.client},
	}}
	resp, err := (&http.Client{Transport: transport}).Get(k.url + "/jobCollections")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s, %w", resp.Status, body, err)
	}
	return resp.TLS.PeerCertificates[0].Issuer.CommonName, nil
}

func (k *knocking) saw(issuer string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.issuer[issuer] > 0
}

// TestCertificatesAreReadAgainUnderLoad exchanges the server's certificate while clients come and go, with a broken one in
// between. No connection fails.
func TestCertificatesAreReadAgainUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("the files are looked at every five seconds; run it without -short")
	}
	t.Parallel()
	dir, next := t.TempDir(), t.TempDir()
	ours := must.Get(certified(dir, "ours", "server", "ann"))(t)
	theirs := must.Get(certified(next, "theirs", "server"))(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	s := serveOn(t, "--nats-url", aloneServer(t), "--tls-cert", file("server.crt"), "--tls-key", file("server.key"),
		"--tls-client-ca", file("ours.crt"), "--tls-roles", "cn:ann=reader")
	k := &knocking{url: s.address(t), roots: x509.NewCertPool()}
	k.roots.AddCert(ours.Cert)
	k.roots.AddCert(theirs.Cert)
	k.client = must.Get(tls.LoadX509KeyPair(file("ann.crt"), file("ann.key")))(t)
	k.start(4)
	s.until(t, "a connection", func() bool { return k.saw("ours") })
	replace := func(name string, data []byte) {
		must.Do(t, os.WriteFile(file(name+".new"), data, 0o600))
		must.Do(t, os.Rename(file(name+".new"), file(name)))
	}
	replace("server.crt", []byte("-----BEGIN CERTIFICATE-----\nbroken\n"))
	s.until(t, "a warning", func() bool { return strings.Contains(s.log.String(), "changed certificates are invalid") })
	if k.saw("theirs") {
		t.Error("the certificate changed too early")
	}
	for _, name := range []string{"server.key", "server.crt"} {
		data := must.Get(os.ReadFile(filepath.Join(next, name)))(t)
		replace(name, data)
	}
	s.until(t, "the new certificate", func() bool { return k.saw("theirs") })
	k.stop.Store(true)
	k.done.Wait()
	if len(k.failed) > 0 {
		t.Errorf("%d of %v connections failed, one with: %v\n%s", len(k.failed), k.issuer, k.failed[0], s.log)
	}
	t.Logf("connections by authority: %v", k.issuer)
	s.end(t)
}

// TestCommandsOverTLSOnNATS asks a NATS server that wants a certificate. There is no scheduler behind it.
func TestCommandsOverTLSOnNATS(t *testing.T) {
	dir := t.TempDir()
	ours := must.Get(certified(dir, "ours", "server", "ann"))(t)
	must.Get(certified(dir, "others", "eve"))(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	pair := must.Get(tls.LoadX509KeyPair(file("server.crt"), file("server.key")))(t)
	clients := x509.NewCertPool()
	clients.AddCert(ours.Cert)
	at := natsServer(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, TLS: true, TLSVerify: true,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
		},
	})
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{
			[]string{"--ca-file", file("ours.crt"), "--cert-file", file("ann.crt"), "--key-file", file("ann.key")},
			terminal.ExitUnavailable, "no scheduler responds",
		}, // it is let in
		{
			[]string{"--nats-ca", file("ours.crt"), "--nats-cert", file("ann.crt"), "--nats-key", file("ann.key")},
			terminal.ExitUnavailable, "no scheduler responds",
		}, // as serve has them
		{[]string{"--cert-file", file("ann.crt"), "--key-file", file("ann.key")}, terminal.ExitUnavailable, "name the authorities of the server"},
		{[]string{"--ca-file", file("ours.crt")}, terminal.ExitUnavailable, "the server does not take the client certificate, or asks for one"},
		{
			[]string{"--ca-file", file("ours.crt"), "--cert-file", file("eve.crt"), "--key-file", file("eve.key")},
			terminal.ExitUnavailable, "the server does not take the client certificate",
		},
		{[]string{"--ca-file", file("none.crt")}, terminal.ExitUsage, "--ca-file: open "},
		{[]string{"--cert-file", file("ann.crt"), "--key-file", file("eve.key")}, terminal.ExitFailure, "private key does not match"},
	} {
		code, out := runOnce("http://127.0.0.1:1", append([]string{"get", "--nats-url", at}, test.args...)...)
		if code != test.code || !strings.Contains(out, test.says) {
			t.Errorf("%v: exit code %d, %s", test.args, code, out)
		}
	}
}

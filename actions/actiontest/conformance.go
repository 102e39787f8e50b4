package actiontest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Fields are the fields of an action that belong to its type.
type Fields = map[string]any

// Type is an action type, as [Conform] tests it.
type Type struct {
	Kind, Field string   // the type, and the field with its settings, in canonical spelling
	Text        string   // the field of the payload
	Schemes     []string // of addresses; the first is without TLS, the second with TLS

	// Open returns a reader whose actions connect through a guard and trust roots. It is closed with the test.
	Open func(t *testing.T, guard *egress.Guard, roots *x509.CertPool) scheduler.ActionReader

	// Serve starts a target on the loopback address, with TLS if config is not nil. received counts the messages so far.
	Serve func(t *testing.T, config *tls.Config) (address string, received func() int)

	// To returns the fields of an action for a target.
	To func(scheme, address string) Fields

	// Secrets are the fields whose values are secrets.
	Secrets []Secret

	// Answer returns the fields of an action that a target answers with an HTTP status and "retry after 7 seconds".
	// Default: the type's answers have no such status.
	Answer func(t *testing.T, status int) Fields
}

// Secret is a place for a secret in the fields of an action.
type Secret struct {
	Name  string
	Valid string // a literal that the reader accepts
	Set   func(fields Fields, value any)
}

// Conform tests the common behavior of all action types:
//
//	reading     the type in any letter case; problems with their path; secrets are not shown
//	delivery    concurrent attempts share an action
//	outcomes    which failures are final, which say nothing about the target, and how they are worded
//	guard       no spelling of an inner address leads to one
func Conform(t *testing.T, kind Type) {
	t.Helper()
	t.Run("reading", kind.reading)
	t.Run("secrets", kind.secrets)
	t.Run("delivery", kind.delivery)
	t.Run("template", kind.template)
	t.Run("network", kind.network)
	t.Run("interruption", kind.interruption)
	t.Run("TLS", kind.trust)
	t.Run("answers", kind.answers)
	t.Run("guard", kind.guard)
}

// with returns the fields of an action for a target, with another payload or field.
func (k *Type) with(address, name string, value any) Fields {
	fields := maps.Clone(k.To(k.Schemes[0], address))
	fields[name] = value
	return fields
}

// read reads an action with these fields.
func (k *Type) read(t *testing.T, reader scheduler.ActionReader, fields any) (scheduler.Action, document.Value, error) {
	t.Helper()
	text, err := json.Marshal(Fields{k.Field: fields})
	if err != nil {
		t.Fatal(err)
	}
	return Read(t, reader, k.Kind, string(text))
}

// invoke runs an attempt of an action with these fields.
func (k *Type) invoke(t *testing.T, reader scheduler.ActionReader, fields Fields, at scheduler.Attempt) scheduler.Result {
	t.Helper()
	action, _, err := k.read(t, reader, fields)
	if err != nil {
		t.Fatal(err)
	}
	return Invoke(t.Context(), action, at)
}

// check checks the result of an attempt without an answer. The wanted reason is the end of the message, or with a * in
// front, a substring.
func (k *Type) check(t *testing.T, got scheduler.Result, want actions.Failure) {
	t.Helper()
	inside, anywhere := strings.CutPrefix(want.Reason, "*")
	worded := strings.HasSuffix(got.Message, want.Reason) || anywhere && strings.Contains(got.Message, inside)
	if !got.Failed || got.Status != 0 || got.Response != "" || got.Final != want.Final || got.SkipCircuit != want.SkipCircuit || !worded ||
		!strings.HasPrefix(got.Message, k.Kind+" Action - ") {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func (k *Type) reading(t *testing.T) {
	reader := k.Open(t, nil, nil)
	to := k.To(k.Schemes[0], "127.0.0.1:1")
	text, err := json.Marshal(Fields{k.Field: to})
	if err != nil {
		t.Fatal(err)
	}
	MustRead(t, reader, strings.ToUpper(k.Kind), string(text))
	if action, _, _ := Read(t, reader, "Elsewhere", `{}`); action != nil {
		t.Error("an action of another type was read")
	}
	path := "action." + k.Field
	for problem, fields := range map[string]any{
		path + ": is required":                                    nil,
		path + ": must be an object, not a string":                "x",
		path + ".nonesuch: unknown field":                         k.with("127.0.0.1:1", "nonesuch", 1),
		path + "." + k.Text + ": must be a string, not a number":  k.with("127.0.0.1:1", k.Text, 1),
		path + "." + k.Text + ": line 1, column ":                 k.with("127.0.0.1:1", k.Text, "{{.Nonesuch}}"),
		path + `.envelope: "letter" is not one of none, `:         k.with("127.0.0.1:1", "envelope", "letter"),
		path + ".template: must be a boolean, not a string":       k.with("127.0.0.1:1", "template", "yes"),
		path + ".cloudEvent: goes with the envelopes cloudevents": k.with("127.0.0.1:1", "cloudEvent", Fields{}),
	} {
		if fields, ok := fields.(Fields); ok && fields[k.Text] == "{{.Nonesuch}}" {
			fields["template"] = true
		}
		action, _, err := k.read(t, reader, fields)
		if err == nil || action != nil || !strings.HasPrefix(err.Error(), problem) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, %v, want no action and %q", action, err, problem)
		}
	}
}

func (k *Type) secrets(t *testing.T) {
	address, received := k.Serve(t, nil)
	reader := k.Open(t, nil, nil)
	for _, secret := range k.Secrets {
		t.Run(secret.Name, func(t *testing.T) {
			fields := k.with(address, k.Text, "hello")
			secret.Set(fields, secret.Valid)
			_, shown, err := k.read(t, reader, fields)
			if err != nil || !shown.HasSecrets() || strings.Contains(shown.String(), secret.Valid) {
				t.Errorf("%v; shown as %s", err, shown)
			}
			secret.Set(fields, Fields{"ref": secret.Valid})
			if _, _, err := k.read(t, reader, fields); err == nil || strings.Contains(err.Error(), secret.Valid) {
				t.Errorf("got %v for a reference without a name", err)
			}
			secret.Set(fields, Fields{"secretRef": "vault"})
			unread := actions.Failure{SkipCircuit: true, Reason: `shared secret "vault" cannot be read here`}
			k.check(t, k.invoke(t, reader, fields, Attempt()), unread)
			at := Attempt()
			at.Shared = func(string) (string, error) { return "", errors.New("not found") }
			k.check(t, k.invoke(t, reader, fields, at), actions.Failure{SkipCircuit: true, Reason: `shared secret "vault": not found`})
		})
	}
	if n := received(); n != 0 {
		t.Errorf("%d messages were sent without their secrets", n)
	}
}

// delivery runs a herd of attempts of one action.
func (k *Type) delivery(t *testing.T) {
	const herd = 64
	address, received := k.Serve(t, nil)
	action, _, err := k.read(t, k.Open(t, nil, nil), k.with(address, k.Text, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	var attempts sync.WaitGroup
	for range herd {
		attempts.Go(func() {
			result := Invoke(t.Context(), action, Attempt())
			if result.Failed || result.Final || result.SkipCircuit || result.Status < 200 || result.Status > 299 ||
				!strings.HasPrefix(result.Message, k.Kind+" Action - ") {
				t.Errorf("got %+v", result)
			}
		})
	}
	attempts.Wait()
	if n := received(); n != herd {
		t.Errorf("%d messages arrived, want %d", n, herd)
	}
}

// template has a template that cannot be filled in.
func (k *Type) template(t *testing.T) {
	address, received := k.Serve(t, nil)
	fields := k.with(address, k.Text, strings.Repeat("{{.Failure.Message}}", 14))
	fields["template"] = true
	at := Attempt()
	at.Failure = &scheduler.Failure{Message: strings.Repeat("x", 40_000)}
	k.check(t, k.invoke(t, k.Open(t, nil, nil), fields, at), actions.Failure{
		Final: true, SkipCircuit: true, Reason: "template in " + k.Text + ": the output is longer than the allowed 524288 bytes",
	})
	if received() != 0 {
		t.Error("it was sent")
	}
}

// network has hosts that refuse, close and do not speak TLS.
func (k *Type) network(t *testing.T) {
	reader := k.Open(t, nil, nil)
	unused := freeport.Address(t)
	k.check(t, k.invoke(t, reader, k.To(k.Schemes[0], unused), Attempt()), actions.Failure{Reason: " failed: connection refused"})
	closing := Listen(t, func(net.Conn) {})
	k.check(t, k.invoke(t, reader, k.To(k.Schemes[0], closing), Attempt()), actions.Failure{Reason: "*connection "})
	mail := Listen(t, func(conn net.Conn) { _, _ = conn.Write([]byte("220 mail.example ESMTP\r\n")) })
	k.check(t, k.invoke(t, reader, k.To(k.Schemes[1], mail), Attempt()), actions.Failure{Reason: "* failed: "})
}

// interruption ends attempts on hosts that say nothing: by their timeout, and because the worker stops.
func (k *Type) interruption(t *testing.T) {
	mute := Listen(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)); <-t.Context().Done() })
	for _, scheme := range k.Schemes[:2] {
		reader := k.Open(t, nil, nil)
		action, _, err := k.read(t, reader, k.To(scheme, mute))
		if err != nil {
			t.Fatal(err)
		}
		at := Attempt()
		at.Timeout = 50 * time.Millisecond
		k.check(t, Invoke(t.Context(), action, at), actions.Failure{Reason: "*timed out after 50ms"})
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the worker stops")) })
		k.check(t, Invoke(ctx, action, Attempt()), actions.Failure{Reason: ": the worker stops"})
		stop.Stop()
		k.check(t, Invoke(ctx, action, Attempt()), actions.Failure{Reason: ": the worker stops"}) // it has stopped before
	}
}

// trust covers a trusted and an untrusted certificate.
func (k *Type) trust(t *testing.T) {
	certificate, roots := Certificate(t, "127.0.0.1")
	address, received := k.Serve(t, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	to := k.To(k.Schemes[1], address)
	if result := k.invoke(t, k.Open(t, nil, roots), to, Attempt()); result.Failed || received() != 1 {
		t.Errorf("%d arrived: %+v", received(), result)
	}
	k.check(t, k.invoke(t, k.Open(t, nil, nil), to, Attempt()),
		actions.Failure{Reason: " failed: TLS: certificate signed by unknown authority"})

	others, roots := Certificate(t, "other.test")
	address, received = k.Serve(t, &tls.Config{Certificates: []tls.Certificate{others}, MinVersion: tls.VersionTLS12})
	k.check(t, k.invoke(t, k.Open(t, nil, roots), k.To(k.Schemes[1], address), Attempt()),
		actions.Failure{Reason: " failed: TLS: the certificate is not valid for the host name"})
	if n := received(); n != 0 {
		t.Errorf("%d arrived under the certificate of another host", n)
	}
}

// answers tests one HTTP status of each class.
func (k *Type) answers(t *testing.T) {
	if k.Answer == nil {
		t.Skip("the type defines its answers itself")
	}
	reader := k.Open(t, nil, nil)
	for _, status := range []int{400, 401, 404, 408, 410, 413, 425, 429, 500, 501, 503} {
		result := k.invoke(t, reader, k.Answer(t, status), Attempt())
		final := status < 500 && status != 408 && status != 425 && status != 429
		if !result.Failed || result.Status != status || result.Final != final || result.SkipCircuit != (status == 501) ||
			(status == 429 || status == 503) && result.RetryAfter != 7*time.Second {
			t.Errorf("%d: got %+v", status, result)
		}
	}
}

func (k *Type) guard(t *testing.T) {
	address, received := k.Serve(t, nil)
	guard := egress.NewGuard()
	reader := k.Open(t, guard, nil)
	to := k.To(k.Schemes[0], address)
	for range 2 { // the second is not treated differently because of the first
		k.check(t, k.invoke(t, reader, to, Attempt()), actions.Failure{
			Final: true, SkipCircuit: true,
			Reason: "127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it",
		})
	}
	if n := received(); n != 0 {
		t.Errorf("%d messages arrived", n)
	}
	guard.AllowAddr(netip.MustParseAddrPort(address))
	if result := k.invoke(t, reader, to, Attempt()); result.Failed || received() != 1 {
		t.Errorf("allowed: %d arrived: %+v", received(), result)
	}
	for _, scheme := range k.Schemes {
		t.Run(scheme, func(t *testing.T) {
			CheckGuarded(t, InnerAddresses, func(host, port string) (scheduler.Action, error) {
				action, _, err := k.read(t, k.Open(t, egress.NewGuard(), nil), k.To(scheme, host+":"+port))
				return action, err
			})
		})
	}
}

// Listen serves connections to a port of the loopback address until the test ends, each in a goroutine, and closes them.
func Listen(tb testing.TB, serve func(net.Conn)) (address string) {
	tb.Helper()
	return listen(tb, "127.0.0.1:0", serve)
}

func listen(tb testing.TB, at string, serve func(net.Conn)) (address string) {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", at)
	if err != nil {
		tb.Fatal(err)
	}
	ctx := tb.Context() // ends before the cleanup
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				serve(conn)
			})
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

// Certificate returns a certificate for a host, which signs itself, and the roots that trust it.
func Certificate(tb testing.TB, host string) (tls.Certificate, *x509.CertPool) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// InnerAddresses are URL hosts that jobs must not reach: this machine, a private
// network and a metadata service, in several spellings. They need no DNS lookup.
var InnerAddresses = []string{
	"127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "localhost", "LOCALHOST",

	// IPv6, by itself or standing for IPv4.
	"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[::1%25lo]", "[fec0::1]",
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:169.254.169.254]", "[0:0:0:0:0:ffff:a9fe:a9fe]",
	"[::127.0.0.1]", "[::a9fe:a9fe]", "[::ffff:0:127.0.0.1]", "[::ffff:0:a9fe:a9fe]",
	"[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe%25eth0]",
	"[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::]", "[2001:0:808:808::5601:5601]",
}

// InnerHosts are those and spellings that need a name server, or a proxy, that
// takes them for such an address.
var InnerHosts = append(slices.Clone(InnerAddresses),
	// Dotted decimal, and what resolvers of C take for it (inet_aton).
	"127.0.0.1.", "127.1", "127.0.1", "127.0.0.01", "0177.0.0.1", "0177.0.0.01", "017700000001",
	"2130706433", "0x7f000001", "0x7F.0.0.1", "0X7f.1", "0x7f.1.", "127.0.0.0x1", "0", "00000000177.0.0.1",
	"167772161", "012.1", "0xa.1",
	"169.254.43518", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376",

	// IDNA maps these names to a refused address (UTS #46).
	"169。254。169。254", "169．254．169．254", "169｡254｡169｡254", "①②⑦.0.0.①", "１２７.０.０.１", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "①⑥⑨.②⑤④.①⑥⑨.②⑤④",
	"127\u00ad.0.0.1", "12\u200b7.0.0.1", "１２７。１", "０ｘ７ｆ．１", "２１３０７０６４３３", "²¹³⁰⁷⁰⁶⁴³³",
	"169%E3%80%82254%E3%80%82169%E3%80%82254", "127.0.0.%EF%BC%91",

	// Names that mean one everywhere.
	"localhost.", "a.localhost", "a.b.LocalHost.", "localhost.localdomain", "ip6-localhost",
	"metadata", "metadata.google.internal", "Metadata.Google.Internal.", "instance-data",
	"ｌｏｃａｌｈｏｓｔ", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "local\u200bhost", "𝓁𝑜𝒸𝒶𝓁𝒽𝑜𝓈𝓉", "a。localhost", "localhoſt",
	"ｍｅｔａｄａｔａ.google.internal",

	// Proxies read these names differently.
	"localhost..", "127.0.0.1..", ".localhost", "127..1", "xn--127-", "local_host\u2024localhost", "127.0.0.1;a.example", "a,localhost",
)

// Trap listens on a port of every address of this machine until the test ends. touched returns how many connections
// came.
func Trap(tb testing.TB) (port string, touched func() int) {
	tb.Helper()
	var n atomic.Int64
	_, port, _ = net.SplitHostPort(listen(tb, ":0", func(net.Conn) { n.Add(1) }))
	return port, func() int { return int(n.Load()) }
}

// CheckGuarded checks that no spelling of an inner address leads to one. read reads an action with the given host and
// port, or returns the error with which a put refuses it.
func CheckGuarded(tb testing.TB, hosts []string, read func(host, port string) (scheduler.Action, error)) {
	tb.Helper()
	port, touched := Trap(tb)
	var under sync.WaitGroup
	reached := 0
	for _, host := range hosts {
		action, err := read(host, port)
		if err != nil {
			continue
		}
		reached++
		under.Go(func() {
			if result := Invoke(tb.Context(), action, Attempt()); !result.Failed {
				tb.Errorf("%s: %s", host, result.Message)
			}
		})
	}
	under.Wait()
	if n := touched(); n != 0 || reached == 0 {
		tb.Errorf("%d connections came; of %d spellings that were not refused when they were put", n, reached)
	}
}

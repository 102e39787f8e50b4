package web

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha1" //nolint:gosec // a thumbprint is SHA-1 by its definition, and protects nothing
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// certificate is authentication by a client certificate in the TLS handshake.
type certificate struct {
	client        *Client
	pfx, password document.Secret
}

// certificateMembers are the fields that describe a certificate in responses, among them Azure Scheduler's two
// names for its expiry. They are ignored in requests.
var certificateMembers = []string{
	"certificateThumbprint", "certificateSubjectName", "certificateExpiration", "certificateExpirationDate",
}

// decodeLimit limits the time to decode a certificate.
const decodeLimit = 5 * time.Second

// readCertificate reads ao, the field authentication of o. It decodes a certificate in a new document, so that
// an unreadable one is reported immediately; shown holds the fields that describe it.
func (r *request) readCertificate(c *Client, o, ao *document.Object) (a *certificate, shown []document.Member) {
	a = &certificate{client: c}
	kept := mixed(ao)
	a.pfx, _ = ao.Secret("pfx")
	a.password, _ = ao.Secret("password")
	if ao.Require("pfx") && a.pfx.IsZero() && ao.Has("pfx") {
		ao.Problem("pfx", "must not be empty")
	}
	if r.uri.Scheme != "" && r.uri.Scheme != "https" {
		o.Problem("uri", "must begin with https:// for a client certificate")
	}
	if kept != "" {
		ao.Problem(kept, "belongs to the certificate or password that is replaced: send both")
		return a, nil
	}
	if ao.Reader().Stored || a.pfx.IsZero() {
		return a, nil
	}
	if a.pfx.Locked() || a.password.Locked() { // stored without the key at hand: it was described then
		v, _ := o.Value("authentication")
		return a, slices.DeleteFunc(slices.Clone(v.Members()), func(m document.Member) bool { return !describes(m) })
	}
	pfx, ok := a.pfx.Literal()
	password, plain := a.password.Literal()
	if !ok || !plain {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), decodeLimit)
	defer cancel()
	decoded, err := decodePFX(ctx, pfx, password)
	switch {
	case errors.Is(err, errPassword):
		ao.Problem("password", "is not the password of pfx")
	case err != nil:
		ao.Problem("pfx", "%v", err)
	default:
		shown = describe(decoded.Leaf)
	}
	return a, shown
}

// mixed returns which of certificate and password comes from the stored job while the other is new, or "".
// Checking whether they match would reveal something about the stored secret.
func mixed(ao *document.Object) string {
	pfx, _ := ao.Value("pfx")
	password, _ := ao.Value("password")
	switch {
	case pfx.Kind() != document.KindString || password.Kind() != document.KindString || pfx.IsSecret() == password.IsSecret():
		return ""
	case pfx.IsSecret():
		return "pfx"
	}
	return "password"
}

// describes reports whether m describes a certificate.
func describes(m document.Member) bool {
	return slices.ContainsFunc(certificateMembers, func(name string) bool { return strings.EqualFold(name, m.Name) })
}

// show replaces the certificate's description in the authentication of o.
func show(o *document.Object, shown []document.Member) {
	v, _ := o.Value("authentication")
	if len(shown) == 0 && !slices.ContainsFunc(v.Members(), describes) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(v.Members()), describes)
	o.Set("authentication", document.ObjectValue(append(kept, shown...)...))
}

// describe returns the fields that describe a certificate.
func describe(leaf *x509.Certificate) []document.Member {
	sum := sha1.Sum(leaf.Raw) //nolint:gosec // as above
	end := leaf.NotAfter.UTC().Format(time.RFC3339)
	members := make([]document.Member, len(certificateMembers))
	for i, text := range []string{strings.ToUpper(hex.EncodeToString(sum[:])), leaf.Subject.String(), end, end} {
		members[i] = document.Member{Name: certificateMembers[i], Value: document.StringValue(text)}
	}
	return members
}

func (a *certificate) authenticate(ctx context.Context, at scheduler.Attempt, _ string) (credential, error) {
	pfx, err := at.Reveal(a.pfx)
	if err != nil {
		return credential{}, unready(err)
	}
	password, err := at.Reveal(a.password)
	if err != nil {
		return credential{}, unready(err)
	}
	t, err := a.client.withCertificate(ctx, pfx, password)
	switch {
	case err != nil && ctx.Err() != nil:
		return credential{}, ctx.Err()
	case err != nil:
		return credential{}, &failure{*actions.Unready(fmt.Errorf("pfx %w", err)), "Client certificate"}
	}
	return credential{transport: t}, nil
}

// transport is an [http.RoundTripper] whose idle connections can be closed.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// maxCertified limits the decoded client certificates in memory.
const maxCertified = 256

// withCertificate returns the transport that presents the certificate in pfx to any server that requests one.
func (c *Client) withCertificate(ctx context.Context, pfx, password string) (http.RoundTripper, error) {
	return c.certified.Get(lru.Digest(pfx, password), func() (transport, error) {
		decoded, err := decodePFX(ctx, pfx, password)
		if err != nil {
			return nil, err
		}
		if c.config.Transport != nil {
			return nil, errors.New("cannot be used: this process uses a custom transport")
		}
		return newTransport(&c.config, decoded), nil
	})
}

// errPassword reports a wrong password of a PKCS#12 file.
var errPassword = errors.New("cannot be opened: the password is wrong")

// errNotPFX reports a text that is not a PKCS#12 file.
var errNotPFX = errors.New("is not a PKCS#12 file (.pfx, .p12)")

// unreadable finds the errors, which have no type, of a file that does not have
// the form of PKCS#12.
var unreadable = regexp.MustCompile(`asn1:|error reading P12 data|trailing data`)

// decoding has a slot for each file being decoded. A file's author chooses the cost of its key derivation, so
// slots are few. A caller waits no longer than its context lasts.
var decoding = make(chan struct{}, 2)

// maxDerivation limits the rounds of key derivation that a file requests, if they are known before it is opened: a
// few seconds' work. Usual are 2,000 to 600,000 for each of three keys.
const maxDerivation = 5_000_000

// decodePFX returns the certificate, its chain and key from a PKCS#12 file in base64. Errors contain neither the
// password nor the content.
func decodePFX(ctx context.Context, text, password string) (*tls.Certificate, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errors.New("is not base64")
	}
	if n := derivation(data, 0); n > maxDerivation {
		return nil, fmt.Errorf("asks for more than %d rounds of key derivation", maxDerivation)
	}
	select {
	case decoding <- struct{}{}:
	case <-ctx.Done():
		return nil, errors.New("cannot be decoded now: others take too long")
	}
	type outcome struct {
		certificate *tls.Certificate
		err         error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("cannot be decoded")}
		defer func() {
			<-decoding
			if recover() != nil { // the file is the user's, and the parser may stumble over it
				o.err = errNotPFX
			}
			done <- o
		}()
		o.certificate, o.err = openPFX(data, password)
	}()
	select {
	case o := <-done:
		return o.certificate, o.err
	case <-ctx.Done():
		return nil, errors.New("takes too long to decode")
	}
}

// openPFX opens a PKCS#12 file.
func openPFX(data []byte, password string) (*tls.Certificate, error) {
	key, first, others, err := pkcs12.DecodeChain(data, password)
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword), errors.Is(err, pkcs12.ErrDecryption):
		return nil, errPassword
	case err != nil && unreadable.MatchString(err.Error()):
		return nil, errNotPFX
	case err != nil:
		return nil, fmt.Errorf("is not a PKCS#12 file with a certificate and its private key: %s",
			netreason.Line(strings.TrimPrefix(err.Error(), "pkcs12: "), netreason.Max))
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("has a private key that cannot sign")
	}
	chain := append([]*x509.Certificate{first}, others...)
	for i, leaf := range chain {
		if public, ok := leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); ok && public.Equal(signer.Public()) {
			chain[0], chain[i] = chain[i], chain[0]
			return keyPair(chain, signer), nil
		}
	}
	return nil, errors.New("has a private key that belongs to none of its certificates")
}

// keyPair returns the first certificate of a chain with its key.
func keyPair(chain []*x509.Certificate, key crypto.Signer) *tls.Certificate {
	pair := &tls.Certificate{PrivateKey: key, Leaf: chain[0]}
	for i, c := range chain {
		if i == 0 || !bytes.Equal(c.RawSubject, c.RawIssuer) { // a root is the host's own to know
			pair.Certificate = append(pair.Certificate, c.Raw)
		}
	}
	return pair
}

// derivation adds up the visible rounds of key derivation in a file: integers that follow a salt. Rounds inside
// encrypted parts are invisible.
func derivation(der []byte, depth int) int64 {
	const maxDepth = 32
	var total int64
	salted := false
	for len(der) > 0 && depth < maxDepth {
		var v asn1.RawValue
		rest, err := asn1.Unmarshal(der, &v)
		if err != nil {
			return total
		}
		der = rest
		number := v.Class == asn1.ClassUniversal && v.Tag == asn1.TagInteger
		if n, ok := small(v.Bytes); number && salted && ok {
			total += n
		}
		salted = v.Tag == asn1.TagOctetString // of any class: not every reader looks at that
		if v.IsCompound || salted {
			total += derivation(v.Bytes, depth+1)
		}
		if total > maxDerivation {
			return total
		}
	}
	return total
}

// small returns a number that an int can hold, which larger ones cannot be
// decoded as.
func small(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 8 || b[0]&0x80 != 0 {
		return 0, false
	}
	return min(new(big.Int).SetBytes(b).Int64(), maxDerivation+1), true
}

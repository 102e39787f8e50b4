package web

import (
	"bytes"
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/carillon-sched/carillon/actions/netreason"
)

// errPassword says that a PKCS#12 file has another password.
var errPassword = errors.New("cannot be opened: the password is wrong")

// errNotPFX says that a text is something else altogether.
var errNotPFX = errors.New("is not a PKCS#12 file (.pfx, .p12)")

// unreadable finds the errors, which have no type, of a file that does not have
// the form of PKCS#12.
var unreadable = regexp.MustCompile(`asn1:|error reading P12 data|trailing data`)

// decoding has a slot for each file being decoded. A file's author chooses the cost of its key derivation, so
// slots are few. A caller waits no longer than its context lasts.
var decoding = make(chan struct{}, 2)

// maxDerivation is how many rounds of key derivation a file may ask for where
// that can be seen before it is opened: a few seconds' work. Usual are 2,000 to
// 600,000 for each of three keys.
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
	var n int64
	for _, c := range b {
		n = n<<8 | int64(c)
	}
	return min(n, maxDerivation+1), true
}

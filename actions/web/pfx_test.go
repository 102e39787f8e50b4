package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"testing"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// FuzzPFX checks that whatever file a user puts is answered, with a
// certificate and its key or with an error.
func FuzzPFX(f *testing.F) {
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(f)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(f)
	leaf := must.Get(x509.ParseCertificate(der))(f)
	for _, encoder := range []*pkcs12.Encoder{pkcs12.Passwordless, pkcs12.LegacyRC2, pkcs12.LegacyDES, pkcs12.Modern2023} {
		password := "x"
		if encoder == pkcs12.Passwordless {
			password = ""
		}
		file := must.Get(encoder.Encode(key, leaf, nil, password))(f)
		f.Add(file, password)
		f.Add(file[:len(file)/2], password)
	}
	f.Fuzz(func(t *testing.T, file []byte, password string) {
		if derivation(file, 0) > 50_000 {
			return // which only takes long
		}
		pair, err := decodePFX(t.Context(), base64.StdEncoding.EncodeToString(file), password)
		if (err == nil) != (pair != nil && pair.Leaf != nil && pair.PrivateKey != nil) {
			t.Errorf("got %v, %v", pair, err)
		}
	})
}

// Package emulatortest starts the emulators for a test and stops them after it.
//
//	func TestDelivery(t *testing.T) {
//		emulators := emulatortest.New(t)
//		client, err := azservicebus.NewClientFromConnectionString(emulators.ServiceBus.ConnectionString(), nil)
//		…
//	}
//
// Each call starts separate servers, on free ports and in memory, so that tests can run in parallel. Queues,
// topics and subscriptions are created on first use.
package emulatortest

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// Emulators are the emulators of one test.
type Emulators struct {
	ServiceBus   *servicebus.Server
	StorageQueue *storagequeue.Server
}

// New starts both emulators. They are closed when the test ends, and the test fails if they cannot be started.
func New(tb testing.TB) Emulators {
	tb.Helper()
	return Emulators{ServiceBus: ServiceBus(tb, servicebus.Config{AutoCreate: true}), StorageQueue: storageQueue(tb)}
}

// ServiceBus starts the Service Bus emulator alone, with a config. Addresses that the config leaves out are free ports.
func ServiceBus(tb testing.TB, config servicebus.Config) *servicebus.Server {
	tb.Helper()
	config.Addr = cmp.Or(config.Addr, "127.0.0.1:0")
	config.HTTPAddr = cmp.Or(config.HTTPAddr, "127.0.0.1:0")
	server, err := servicebus.Start(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	closeAfter(tb, server)
	return server
}

func storageQueue(tb testing.TB) *storagequeue.Server {
	tb.Helper()
	server, err := storagequeue.Start(tb.Context(), storagequeue.Config{Addr: "127.0.0.1:0", AutoCreate: true})
	if err != nil {
		tb.Fatal(err)
	}
	closeAfter(tb, server)
	return server
}

// closeAfter closes a server when the test ends.
func closeAfter(tb testing.TB, server io.Closer) {
	tb.Helper()
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(err)
		}
	})
}

// Certificate makes a certificate for hosts, names or addresses, that is good for a day. It signs itself; authority is what clients
// have to trust, in PEM.
func Certificate(hosts ...string) (certificate tls.Certificate, authority []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "emulator"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, authority, nil
}

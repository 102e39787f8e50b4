package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// Client is what a client of TLS trusts and shows: files of PEM, "" for none.
type Client struct {
	CA        string // the authorities of servers, in place of the system's
	Cert, Key string // the certificate of the client, with what leads to its authority, and its key
}

// Config reads the files; nil when there are none. flags are the names of the flags that the files are of, which errors
// say.
func (c Client) Config(flags Client) (*tls.Config, error) {
	if c == (Client{}) {
		return nil, nil //nolint:nilnil // as the system has it is a way to speak TLS
	}
	if (c.Cert == "") != (c.Key == "") {
		return nil, terminal.Usagef("--%s and --%s go together", flags.Cert, flags.Key)
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		data, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, terminal.FileError(flags.CA, err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("--%s: %s: holds no certificate in PEM", flags.CA, c.CA)
		}
	}
	if c.Cert == "" {
		return cfg, nil
	}
	cert, err := os.ReadFile(c.Cert)
	if err != nil {
		return nil, terminal.FileError(flags.Cert, err)
	}
	key, err := os.ReadFile(c.Key)
	if err != nil {
		return nil, terminal.FileError(flags.Key, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--%s %s, --%s %s: %w", flags.Cert, c.Cert, flags.Key, c.Key, err)
	}
	// It is shown to a server that does not list its authority, too: one that does not take it says so.
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	return cfg, nil
}

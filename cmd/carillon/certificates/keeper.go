package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Files are where the certificates are, as PEM.
type Files struct {
	Cert, Key string // of the server, with what leads to its authority
	ClientCA  string // the authorities of clients; "": certificates of clients are not asked for
}

// Keeper keeps the content of the files. It is safe for concurrent use. A nil Keeper does nothing.
type Keeper struct {
	files Files
	every time.Duration
	log   *slog.Logger

	again chan struct{} // see Now
	now   atomic.Pointer[loaded]
	seen  [3]string // content of the files at the last check
	over  time.Time // expiry of the server's certificate, once it was logged
}

// loaded is the parsed content of the files.
type loaded struct {
	config  *tls.Config
	clients *x509.CertPool // nil: none are taken
}

// Every is how often the files are looked at.
const Every = 5 * time.Second

// Open reads the files. The error names the flag.
func Open(files Files, every time.Duration, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{files: files, every: every, log: log, again: make(chan struct{}, 1)}
	if _, err := k.look(); err != nil {
		return nil, err
	}
	return k, nil
}

// Config returns the configuration of a server. Each connection uses the files loaded last.
func (k *Keeper) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return k.now.Load().config, nil
		},
	}
}

// Trusted verifies a client's certificate chain against the authorities loaded last.
func (k *Keeper) Trusted(chain []*x509.Certificate) error {
	clients := k.now.Load().clients
	if clients == nil || len(chain) == 0 {
		return errors.New("this listener accepts no client certificates")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: clients, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}

// Run looks at the files again and again until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	if k == nil {
		return
	}
	tick := time.NewTicker(k.every)
	defer tick.Stop()
	for {
		k.tellExpired(time.Now())
		select {
		case <-tick.C:
		case <-k.again:
		case <-ctx.Done():
			return
		}
		switch changed, err := k.look(); {
		case err != nil:
			k.log.Warn("changed certificates are invalid; keeping the previous ones", "err", err)
		case changed:
			k.log.Info("certificates reloaded", "cert", k.files.Cert)
		}
	}
}

// Now makes Run check the files immediately.
func (k *Keeper) Now() {
	if k != nil {
		flow.Signal(k.again)
	}
}

// tellExpired logs, once per certificate, that clients refuse the expired server certificate.
func (k *Keeper) tellExpired(now time.Time) {
	end := k.now.Load().config.Certificates[0].Leaf.NotAfter
	if now.After(end) && !end.Equal(k.over) {
		k.over = end
		k.log.Warn("the certificate has expired: clients refuse it", "cert", k.files.Cert, "end", end)
	}
}

// look loads the files if their content has changed. It returns each error once.
func (k *Keeper) look() (changed bool, err error) {
	var data [3]string
	var wrong error
	for i, f := range [3]struct{ flag, path string }{
		{"tls-cert", k.files.Cert}, {"tls-key", k.files.Key}, {"tls-client-ca", k.files.ClientCA},
	} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(f.path)
		if data[i] = string(text); err != nil {
			wrong = errors.Join(wrong, terminal.FileError(f.flag, err))
			data[i] = err.Error() // to report it once
		}
	}
	if k.now.Load() != nil && data == k.seen {
		return false, nil
	}
	k.seen = data
	if wrong != nil {
		return true, wrong
	}
	next, err := load(k.files, data)
	if err == nil {
		k.now.Store(next)
	}
	return true, err
}

// load parses the content of the files.
func load(files Files, data [3]string) (*loaded, error) {
	pair, err := tls.X509KeyPair([]byte(data[0]), []byte(data[1]))
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", files.Cert, files.Key, err)
	}
	l := &loaded{config: &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}}
	if files.ClientCA != "" {
		l.clients = x509.NewCertPool()
		if !l.clients.AppendCertsFromPEM([]byte(data[2])) {
			return nil, fmt.Errorf("--tls-client-ca: %s: holds no certificate in PEM", files.ClientCA)
		}
		l.config.ClientCAs, l.config.ClientAuth = l.clients, tls.VerifyClientCertIfGiven
	}
	return l, nil
}

// Client names the PEM files of a TLS client; "" for none.
type Client struct {
	CA   string `json:"caFile,omitempty"`   // the authorities of servers, in place of the system's
	Cert string `json:"certFile,omitempty"` // the certificate of the client, with what leads to its authority
	Key  string `json:"keyFile,omitempty"`  // its key
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
	// Also sent to a server that does not list its authority: a server that does not accept it reports that.
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	return cfg, nil
}

package remote

import (
	"cmp"
	"crypto/tls"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/contexts"
)

// Files are the flags that say how TLS is spoken with what is asked, over REST or NATS.
type Files struct {
	CA   string `name:"ca-file" aliases:"nats-ca" group:"Over TLS" help:"Authorities of servers to trust, in place of the system's, as PEM." env:"CARILLON_CA_FILE" placeholder:"FILE"`
	Cert string `name:"cert-file" aliases:"nats-cert" group:"Over TLS" help:"Client certificate to show, with what leads to its authority, as PEM." env:"CARILLON_CERT_FILE" placeholder:"FILE"`
	Key  string `name:"key-file" aliases:"nats-key" group:"Over TLS" help:"Key of the client certificate, as PEM." env:"CARILLON_KEY_FILE" placeholder:"FILE"`
}

// Check makes sure that the files hold what they should.
func (f Files) Check() error {
	_, err := f.config()
	return err
}

func (f Files) client() certificates.Client {
	return certificates.Client{CA: f.CA, Cert: f.Cert, Key: f.Key}
}

func (f Files) config() (*tls.Config, error) { return f.client().Config(contexts.FileFlags) }

// or takes what is not given from a context. A certificate and its key come from one place.
func (f Files) or(c contexts.Context) Files {
	f.CA = cmp.Or(f.CA, c.CA)
	if f.Cert == "" && f.Key == "" {
		f.Cert, f.Key = c.Cert, c.Key
	}
	return f
}

package remote

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Micro are the flags that have a scheduler asked over NATS.
type Micro struct {
	NATS   string `name:"nats-url" help:"Ask the scheduler over NATS, and not over REST: addresses of NATS servers, separated by commas." group:"Over NATS" placeholder:"URL"`
	Creds  string `help:"With --nats-url: credentials file of the NATS user." group:"Over NATS" type:"existingfile" placeholder:"FILE"`
	Inbox  string `name:"inbox-prefix" help:"With --nats-url: what the NATS user gets its answers below, such as _INBOX_alice." group:"Over NATS" default:"_INBOX" placeholder:"NAME"`
	Prefix string `name:"nats-prefix" help:"With --nats-url: what the scheduler was started with as --prefix." group:"Over NATS" default:"carillon" placeholder:"NAME"`
}

// connectPatience is how long a NATS server may take to greet.
const connectPatience = 5 * time.Second

// connect returns a client that is connected, for as long as the process lives.
func (m Micro) connect(files Files) (*client.Client, error) {
	if err := files.Check(); err != nil {
		return nil, err
	}
	options := []nats.Option{
		nats.Name("carillon"), nats.Timeout(connectPatience), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what counts is in the error of a request
	}
	nc, err := nats.Connect(m.NATS, append(options, ConnectOptions(m.Creds, m.Inbox, files.client())...)...)
	if err != nil {
		hint := terminal.TLSHint(err)
		if hint == "" {
			hint = "name a server that speaks NATS, as nats://127.0.0.1:4222; --creds has its user, or --cert-file its certificate"
		}
		return nil, terminal.Hinted(terminal.Unavailablef("--nats-url: %w", err), hint)
	}
	return client.NewNATS(client.NATSConfig{Conn: nc, Prefix: m.Prefix}), nil
}

// ConnectOptions are those of a connection to NATS as the user of a credentials file, "" for none, that gets its answers
// below a prefix, "" for the common one. The files are read again for each connection.
func ConnectOptions(creds, inbox string, files certificates.Client) []nats.Option {
	var o []nats.Option
	if inbox != "" {
		o = append(o, nats.CustomInboxPrefix(inbox))
	}
	if creds != "" {
		o = append(o, nats.UserCredentials(creds))
	}
	if files.CA != "" {
		o = append(o, nats.RootCAs(files.CA))
	}
	if files.Cert != "" {
		o = append(o, nats.ClientCert(files.Cert, files.Key))
	}
	return o
}

// check refuses flags that would have no effect.
func (m Micro) check() error {
	if m.NATS == "" && m.Creds != "" {
		return terminal.Usagef("--creds goes with --nats-url")
	}
	return nil
}

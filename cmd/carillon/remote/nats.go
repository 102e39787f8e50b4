package remote

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Micro are the flags that have a scheduler asked over NATS.
type Micro struct {
	NATS   string `name:"nats-url" help:"Ask the scheduler over NATS, and not over REST: addresses of NATS servers, separated by commas." group:"Over NATS" placeholder:"URL"`
	Creds  string `help:"With --nats-url: credentials file of the NATS user." group:"Over NATS" type:"existingfile" placeholder:"FILE"`
	CA     string `name:"nats-ca" help:"With --nats-url: certificates to trust beside the system's, as PEM." group:"Over NATS" type:"existingfile" placeholder:"FILE"`
	Prefix string `name:"nats-prefix" help:"With --nats-url: what the scheduler was started with as --prefix." group:"Over NATS" default:"carillon" placeholder:"NAME"`
}

// connectPatience is how long a NATS server may take to greet.
const connectPatience = 5 * time.Second

// client connects, for as long as the process lives.
func (m Micro) client() (*client.Client, error) {
	options := []nats.Option{nats.Name("carillon"), nats.Timeout(connectPatience), nats.MaxReconnects(-1)}
	if m.Creds != "" {
		options = append(options, nats.UserCredentials(m.Creds))
	}
	if m.CA != "" {
		options = append(options, nats.RootCAs(m.CA))
	}
	nc, err := nats.Connect(m.NATS, options...)
	if err != nil {
		return nil, terminal.Hinted(terminal.Unavailablef("--nats-url: %w", err),
			"name a server that speaks NATS, as nats://127.0.0.1:4222; --creds has its user")
	}
	return client.NewNATS(client.NATSConfig{Conn: nc, Prefix: m.Prefix}), nil
}

// check refuses flags that would have no effect.
func (m Micro) check() error {
	if m.NATS != "" {
		return nil
	}
	for _, flag := range []struct{ name, value string }{{"creds", m.Creds}, {"nats-ca", m.CA}} {
		if flag.value != "" {
			return terminal.Usage(fmt.Errorf("--%s goes with --nats-url", flag.name))
		}
	}
	return nil
}

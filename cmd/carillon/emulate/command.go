package emulate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// Command is `carillon emulate`.
type Command struct {
	terminal.Logging `embed:"" set:"loglevel=warn"`

	Config       string            `help:"Create the queues, topics and subscriptions of this file, a config.json of Microsoft's emulator." placeholder:"FILE"`
	AutoCreate   bool              `help:"Create queues, topics and subscriptions on first use instead of rejecting them."`
	AMQP         string            `name:"amqp" help:"Address of Service Bus for AMQP." default:"127.0.0.1:5672" placeholder:"ADDR"`
	HTTP         string            `name:"http" help:"Address of Service Bus for management clients, REST, /health, /metrics, /api and AMQP over WebSocket." default:"127.0.0.1:5300" placeholder:"ADDR"`
	Queue        string            `name:"queue" help:"Address of storage queues." default:"127.0.0.1:10001" placeholder:"ADDR"`
	NoServiceBus bool              `help:"Run without Service Bus."`
	NoQueue      bool              `help:"Run without storage queues."`
	Keys         string            `help:"How to check keys: strict, lenient (any account and key) or off. Default: strict for storage queues and with --sas-key, otherwise lenient." placeholder:"MODE"`
	SASKey       map[string]string `name:"sas-key" mapsep:"none" help:"Shared access key of Service Bus, instead of the default one. NAME:send=KEY and NAME:listen,send=KEY limit its rights; manage includes all rights, as does no list. Repeatable." placeholder:"NAME=KEY"`
	Account      map[string]string `mapsep:"none" help:"Storage account with its key in base64, instead of devstoreaccount1. Repeatable." placeholder:"NAME=KEY"`
	Tier         string            `help:"Enforce the restrictions of a Service Bus tier: basic, standard or premium. Default: no restrictions." placeholder:"TIER"`
	Console      console           `help:"Serve a web console to view and change queues and messages, on 127.0.0.1:8080. --console=ADDR sets another address."`
	Language     string            `help:"Language of the console: de or en." enum:"de,en" default:"en" placeholder:"LANG"`
	Insecure     bool              `name:"insecure-listen" help:"Allow a --console address other than loopback, although it does not require a password."`
	Explain      bool              `help:"Log mistakes of Service Bus clients: a line per rejected request, with the client's container id and a hint."`
	Cert         string            `help:"Certificate (PEM). Service Bus then also serves TLS on the same ports; storage queues serve only HTTPS." placeholder:"FILE"`
	Key          string            `help:"Private key of --cert (PEM)." placeholder:"FILE"`
	Hosts        []string          `name:"allowed-host" help:"Host names to accept, such as *.example.com. A loopback listener also accepts loopback names; others also accept IP addresses. Default: all hosts. Repeatable." placeholder:"NAME"`
	Data         string            `help:"Directory for persistent data, used by one process at a time. Default: memory." placeholder:"DIR"`
	PortsFile    string            `help:"Write the addresses and connection strings to this file as JSON after startup." placeholder:"FILE"`
}

// Run runs until it is interrupted.
func (c Command) Run(ctx context.Context, t *terminal.Terminal) error {
	cfg, err := c.config(ctx, t)
	if err != nil {
		return err
	}
	if err := listen.RemovePorts(c.PortsFile); err != nil {
		return err
	}
	e, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	if exposed := c.exposed(ctx); len(exposed) > 0 {
		t.Complain("warning", listen.Names(exposed)+" may be reachable from other machines; the keys are public")
	}
	pages, err := c.open(ctx, t, e)
	if err == nil {
		err = c.serve(ctx, t, e, pages)
	}
	pages.Close()
	return errors.Join(err, listen.RemovePorts(c.PortsFile), e.Close()) //nolint:contextcheck // ctx has ended
}

// listeners are the flags that say where to listen.
func (c Command) listeners() []listen.Flag {
	return []listen.Flag{{Name: "amqp", Addr: c.AMQP}, {Name: "http", Addr: c.HTTP}, {Name: "queue", Addr: c.Queue}}
}

// exposed are those that other machines may reach, of the emulators that run.
func (c Command) exposed(ctx context.Context) []listen.Flag {
	return slices.DeleteFunc(listen.Exposed(ctx, c.listeners()...), func(f listen.Flag) bool {
		return f.Name == "queue" && c.NoQueue || f.Name != "queue" && c.NoServiceBus
	})
}

// config converts the flags.
func (c Command) config(ctx context.Context, t *terminal.Terminal) (Config, error) {
	if err := errors.Join(listen.Check(c.listeners()...), listen.CheckHosts(c.Hosts), c.Console.check(ctx, c.Insecure)); err != nil {
		return Config{}, err
	}
	mode, err := servicebus.ParseAuth(c.Keys)
	switch {
	case err != nil:
		return Config{}, terminal.Usagef("--keys: %q is not strict, lenient or off", c.Keys)
	case c.NoServiceBus && c.NoQueue:
		return Config{}, terminal.Usagef("--no-service-bus and --no-queue leave nothing to run")
	}
	if err := c.checkLeftOut(); err != nil {
		return Config{}, err
	}
	keys, rights, err := readKeys(c.SASKey)
	if err != nil {
		return Config{}, err
	}
	if err := checkAccounts(c.Account); err != nil {
		return Config{}, err
	}
	certificate, err := c.certificate()
	if err != nil {
		return Config{}, err
	}
	cfg := Config{Data: c.Data, file: c.Config}
	if !c.NoServiceBus {
		cfg.Bus = &servicebus.Config{Auth: mode, Keys: keys, Rights: rights}
		if certificate != nil {
			cfg.Bus.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
		}
		if err := c.bus(ctx, t, cfg.Bus); err != nil {
			return Config{}, err
		}
	}
	if !c.NoQueue {
		cfg.Queue = &storagequeue.Config{
			Addr: c.Queue, Accounts: c.Account, Certificate: certificate, AutoCreate: c.AutoCreate, Logger: c.Logger(t.Err),
			AllowHost: listen.Hosts(ctx, c.Queue, c.Hosts),
		}
		if c.Keys != "" && mode != servicebus.Strict {
			cfg.Queue.Keys = storagequeue.Lenient
		}
	}
	return cfg, nil
}

// checkLeftOut refuses flags that are for an emulator which does not run.
func (c Command) checkLeftOut() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{{"tier", c.Tier != ""}, {"config", c.Config != ""}, {"sas-key", len(c.SASKey) > 0}, {"explain", c.Explain}} {
		if c.NoServiceBus && flag.given {
			return terminal.Usagef("--%s is for Service Bus, which --no-service-bus leaves out", flag.name)
		}
	}
	if c.NoQueue && len(c.Account) > 0 {
		return terminal.Usagef("--account is for storage queues, which --no-queue leaves out")
	}
	return nil
}

// bus completes a config that has keys and certificate by the other Service Bus flags.
func (c Command) bus(ctx context.Context, t *terminal.Terminal, cfg *servicebus.Config) (err error) {
	if c.Keys == "" && len(c.SASKey) > 0 {
		cfg.Auth = servicebus.Strict
	}
	if cfg.Tier, err = servicebus.ParseTier(c.Tier); err != nil {
		return terminal.Usagef("--tier: %q is not basic, standard or premium", c.Tier)
	}
	if cfg.Entities, err = readEntities(c.Config); err != nil {
		return err
	}
	cfg.Addr, cfg.HTTPAddr, cfg.AllowHost = c.AMQP, c.HTTP, listen.Hosts(ctx, c.HTTP, c.Hosts)
	cfg.AutoCreate, cfg.Explain, cfg.Logger = c.AutoCreate, c.Explain, c.Logger(t.Err)
	return nil
}

// readKeys parses the shared access keys of the command line, and their rights if given.
func readKeys(flags map[string]string) (keys map[string]string, rights map[string][]string, err error) {
	keys, rights = map[string]string{}, map[string][]string{}
	for named, key := range flags {
		name, names, limited := strings.Cut(named, ":")
		if name == "" || key == "" {
			return nil, nil, terminal.Usagef("--sas-key: %q is not NAME=KEY", named+"="+key)
		}
		if _, twice := keys[name]; twice {
			return nil, nil, terminal.Usagef("--sas-key: %q is set twice", name)
		}
		keys[name] = key
		if !limited {
			continue
		}
		rights[name] = strings.Split(names, ",")
		if err := servicebus.CheckRights(rights[name]); err != nil {
			return nil, nil, terminal.Usagef("--sas-key: %s: %w", name, err)
		}
	}
	return keys, rights, nil
}

// checkAccounts validates the storage accounts of the command line.
func checkAccounts(accounts map[string]string) error {
	for name, key := range accounts {
		if err := storagequeue.CheckAccount(name, key); err != nil {
			return terminal.Usagef("--account: %w", err)
		}
	}
	return nil
}

// certificate loads the certificate of the flags; nil without one.
func (c Command) certificate() (*tls.Certificate, error) {
	if c.Cert == "" && c.Key == "" {
		return nil, nil //nolint:nilnil // none is no mistake
	}
	if c.Cert == "" || c.Key == "" {
		return nil, terminal.Usagef("--cert and --key go together")
	}
	read, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, terminal.FileError("cert, --key", err)
	}
	return &read, nil
}

// serve prints the emulators' addresses and waits for the end.
func (c Command) serve(ctx context.Context, t *terminal.Terminal, e *Servers, pages *listen.Side) error {
	p := e.Ports()
	p.Console = pages.URL()
	if err := p.Write(c.PortsFile); err != nil {
		return err
	}
	if t.JSON {
		if err := t.PrintJSON(p); err != nil {
			return err
		}
	} else {
		c.greet(t, e, p)
	}
	e.Wait(ctx)
	if !t.JSON && ctx.Err() != nil {
		fmt.Fprintln(t.Err, "stopping; a second signal exits immediately")
	}
	return nil
}

// greet prints the addresses.
func (c Command) greet(t *terminal.Terminal, e *Servers, p listen.Ports) {
	where := "in memory"
	if c.Data != "" {
		where = "in " + c.Data
	}
	t.Printf("carillon %s, emulators, data %s\n\n", t.Version, where)
	if e.bus != nil {
		t.Printf("  Service Bus    %s, %s\n", p.AMQP, c.entities(e))
		t.Printf("  management     %s\n", p.HTTP)
	}
	if e.queue != nil {
		t.Printf("  storage queue  %s\n", p.Queue)
	}
	if p.Console != "" {
		t.Printf("  console        %s\n", p.Console)
	}
	t.Printf("\n%s\nCtrl-C stops.\n", e.Pasteable(e.keys, c.Account))
}

// entities says which entities Service Bus has at the start.
func (c Command) entities(e *Servers) string {
	queues, topics := len(e.entities.Queues), len(e.entities.Topics)
	var words []string
	if c.Config != "" {
		words = append(words, fmt.Sprintf("%s and %s of %s",
			terminal.Plural(queues, "queue", "queues"), terminal.Plural(topics, "topic", "topics"), filepath.Base(c.Config)))
	}
	if c.AutoCreate {
		words = append(words, "makes what is used")
	} else {
		words = append(words, "refuses what does not exist")
	}
	return strings.Join(words, ", ")
}

// console is the flag --console, the address of the console; "" disables it.
type console string

// defaultConsole is where they are unless the flag says so.
const defaultConsole = "127.0.0.1:8080"

// Decode takes the address, which may be left out.
func (c *console) Decode(ctx *kong.DecodeContext) error {
	*c = defaultConsole
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	var addr string
	if err := ctx.Scan.PopValueInto("ADDR", &addr); err != nil {
		return err
	}
	*c = console(addr)
	return nil
}

// IsBool says that the next word of the command line is not the address.
func (c *console) IsBool() bool { return true }

func (c *console) flag() listen.Flag { return listen.Flag{Name: "console", Addr: string(*c)} }

// check validates the address.
func (c *console) check(ctx context.Context, insecure bool) error {
	if *c == "" {
		return nil
	}
	if err := listen.Check(c.flag()); err != nil || insecure {
		return err
	}
	return listen.RefuseExposed(ctx, c.flag())
}

// open serves the pages, if they are wanted.
func (c Command) open(ctx context.Context, t *terminal.Terminal, e *Servers) (*listen.Side, error) {
	if c.Console == "" {
		return nil, nil //nolint:nilnil // nothing is asked for, as usual
	}
	if exposed := listen.Exposed(ctx, c.Console.flag()); len(exposed) > 0 {
		t.Complain("warning", listen.Names(exposed)+" may be reachable from other machines, without a password")
	}
	words.Use(c.Language)
	pages := frame.New(frame.Config{
		Sections:  []frame.Section{queues.Alone(e.ConsoleConfig("carillon emulate"))},
		AllowHost: listen.Hosts(ctx, string(c.Console), c.Hosts), Logger: c.Logger(t.Err), Unlocked: true, Version: t.Version,
		MaxLive: listen.SideConnections / 2, // other pages have their part
	})
	return listen.ServeAny(ctx, c.Console.flag(), "", pages, c.Logger(t.Err))
}

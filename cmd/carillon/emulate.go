package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

type emulateCmd struct {
	logging `embed:"" set:"loglevel=warn"`

	Config       string            `help:"Queues, topics and subscriptions to make, as a config.json of Microsoft's emulator." placeholder:"FILE"`
	AutoCreate   bool              `help:"Make queues, topics and subscriptions when they are first used, instead of refusing them."`
	AMQP         string            `name:"amqp" help:"Where Service Bus listens for AMQP." default:"127.0.0.1:5672" placeholder:"ADDR"`
	HTTP         string            `name:"http" help:"Where Service Bus listens for its admin clients, /health, /api and AMQP over WebSocket." default:"127.0.0.1:5300" placeholder:"ADDR"`
	Queue        string            `name:"queue" help:"Where storage queues listen." default:"127.0.0.1:10001" placeholder:"ADDR"`
	NoServiceBus bool              `help:"Run without Service Bus."`
	NoQueue      bool              `help:"Run without storage queues."`
	Keys         string            `help:"How keys are checked: strict, lenient (every account, any key) or off. Default: strict for storage queues and with --sas-key, else lenient." placeholder:"MODE"`
	SASKey       map[string]string `name:"sas-key" mapsep:"none" help:"A shared access key of Service Bus, instead of the usual one; may be repeated." placeholder:"NAME=KEY"`
	Account      map[string]string `mapsep:"none" help:"A storage account with its key in base64, instead of devstoreaccount1; may be repeated." placeholder:"NAME=KEY"`
	Cert         string            `help:"Certificate, in PEM, with which Service Bus serves TLS too, on the same ports, and storage queues HTTPS alone." placeholder:"FILE"`
	Key          string            `help:"The private key of --cert, in PEM." placeholder:"FILE"`
	Data         string            `help:"Directory that keeps everything for the next start; one process at a time can use it. Default: memory." placeholder:"DIR"`
	PortsFile    string            `help:"Write the addresses and connection strings to this file, as JSON, once everything runs." placeholder:"FILE"`
}

// Help shows examples.
func (emulateCmd) Help() string {
	return `Runs emulators of Azure Service Bus and Azure Queue Storage in one process, without a scheduler, a container
or a database, and prints the connection strings. Programs use them through Azure's SDKs, unchanged:

    Go  client, err := azservicebus.NewClientFromConnectionString("Endpoint=sb://127.0.0.1:5672;
            SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;
            UseDevelopmentEmulator=true;", nil)
        service, err := azqueue.NewServiceClientFromConnectionString("DefaultEndpointsProtocol=http;
            AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOc…;
            QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;", nil)

    JS  const client = new ServiceBusClient("Endpoint=sb://127.0.0.1:5672;…;UseDevelopmentEmulator=true;")
        const service = QueueServiceClient.fromConnectionString("DefaultEndpointsProtocol=http;…;")

Each string is one line without blanks; copy the printed ones. Queues and topics are those of --config, those
that admin clients make and, with --auto-create, whatever is used. Without --data everything is gone at the end.
--json prints what the ports file has.

Admin clients of Service Bus take its string with the HTTP port, 5300. They insist on HTTPS: give --cert and --key,
and let them trust the certificate (SSL_CERT_FILE for Go, NODE_EXTRA_CA_CERTS for Node.js), or give their options a
transport that speaks HTTP instead. With --cert, storage queues speak HTTPS alone.

Whose keys are to be checked says so: --sas-key for Service Bus, whose keys are strict with it, and --account for
storage queues, whose keys are strict anyway. The strings that are printed have these keys.

Port 0 takes a free port. Stay on loopback addresses: the keys are no secret. SIGTERM ends it in good order.

Examples:

    carillon emulate --auto-create
    carillon emulate --config config.json --data .emulators
    carillon emulate --no-queue --amqp 127.0.0.1:0 --http 127.0.0.1:0 --ports-file ports.json
    carillon emulate --config config.json --sas-key orders=c2VjcmV0 --account shop=c2VjcmV0
    carillon emulate --auto-create --cert cert.pem --key key.pem
    carillon emulate --keys lenient --amqp 0.0.0.0:5672 --http 0.0.0.0:5300 --queue 0.0.0.0:10001`
}

// Run runs until it is interrupted.
func (c emulateCmd) Run(ctx context.Context, t *terminal) error {
	cfg, err := c.emulation(t)
	if err != nil {
		return err
	}
	if err := removePorts(c.PortsFile); err != nil {
		return err
	}
	e, err := startEmulators(ctx, cfg)
	if err != nil {
		return err
	}
	err = c.serve(ctx, t, e)
	return errors.Join(err, removePorts(c.PortsFile), e.close()) //nolint:contextcheck // ctx has ended
}

// emulation is what the flags ask for.
func (c emulateCmd) emulation(t *terminal) (emulation, error) {
	for _, f := range [][2]string{{"amqp", c.AMQP}, {"http", c.HTTP}, {"queue", c.Queue}} {
		if err := checkAddress(f[0], f[1]); err != nil {
			return emulation{}, err
		}
	}
	mode, err := servicebus.ParseAuth(c.Keys)
	switch {
	case err != nil:
		return emulation{}, &usageError{fmt.Errorf("--keys: %q is not strict, lenient or off", c.Keys)}
	case c.NoServiceBus && c.NoQueue:
		return emulation{}, &usageError{errors.New("--no-service-bus and --no-queue leave nothing to run")}
	case c.NoServiceBus && c.Config != "":
		return emulation{}, &usageError{errors.New("--config is for Service Bus, which --no-service-bus leaves out")}
	}
	if err := checkKeys(c.SASKey, c.Account); err != nil {
		return emulation{}, err
	}
	certificate, err := c.certificate()
	if err != nil {
		return emulation{}, err
	}
	cfg := emulation{data: c.Data, file: c.Config}
	if !c.NoServiceBus {
		if c.Keys == "" && len(c.SASKey) > 0 {
			mode = servicebus.Strict
		}
		entities, err := readEntities(c.Config)
		if err != nil {
			return emulation{}, err
		}
		cfg.bus = &servicebus.Config{
			Addr: c.AMQP, HTTPAddr: c.HTTP, Auth: mode, Keys: c.SASKey, Entities: entities,
			AutoCreate: c.AutoCreate, Logger: c.logger(t.err),
		}
		if certificate != nil {
			cfg.bus.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
		}
	}
	if !c.NoQueue {
		cfg.queue = &storagequeue.Config{
			Addr: c.Queue, Accounts: c.Account, Certificate: certificate, AutoCreate: c.AutoCreate, Logger: c.logger(t.err),
		}
		if c.Keys != "" && mode != servicebus.Strict {
			cfg.queue.Keys = storagequeue.Lenient
		}
	}
	return cfg, nil
}

// checkKeys finds what is wrong with keys on the command line.
func checkKeys(sas, accounts map[string]string) error {
	for name, key := range sas {
		if name == "" || key == "" {
			return &usageError{fmt.Errorf("--sas-key: %q is not NAME=KEY", name+"="+key)}
		}
	}
	for name, key := range accounts {
		if err := storagequeue.CheckAccount(name, key); err != nil {
			return &usageError{fmt.Errorf("--account: %w", err)}
		}
	}
	return nil
}

// certificate reads that of the flags; nil is none.
func (c emulateCmd) certificate() (*tls.Certificate, error) {
	if c.Cert == "" && c.Key == "" {
		return nil, nil //nolint:nilnil // none is no mistake
	}
	if c.Cert == "" || c.Key == "" {
		return nil, &usageError{errors.New("--cert and --key go together")}
	}
	read, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--cert, --key: %w", err)}
	}
	return &read, nil
}

// serve tells where the emulators are and waits for the end.
func (c emulateCmd) serve(ctx context.Context, t *terminal, e *emulators) error {
	p := e.ports()
	if err := p.write(c.PortsFile); err != nil {
		return err
	}
	if t.json {
		if err := t.printJSON(p); err != nil {
			return err
		}
	} else {
		c.greet(t, e, p)
	}
	e.wait(ctx)
	if !t.json && ctx.Err() != nil {
		fmt.Fprintln(t.err, "stopping; a second signal ends it at once")
	}
	return nil
}

// greet says what runs where.
func (c emulateCmd) greet(t *terminal, e *emulators, p ports) {
	where := "in memory"
	if c.Data != "" {
		where = "in " + c.Data
	}
	t.printf("carillon %s, emulators, data %s\n\n", thisBuild().Version, where)
	if e.bus != nil {
		t.printf("  Service Bus    %s, %s\n", p.AMQP, c.entities(e))
		t.printf("  its admin      %s\n", p.HTTP)
	}
	if e.queue != nil {
		t.printf("  storage queue  %s\n", p.Queue)
	}
	t.printf("\n%s\nCtrl-C stops.\n", e.pasteable(c.SASKey, c.Account))
}

// entities says which entities Service Bus has at the start.
func (c emulateCmd) entities(e *emulators) string {
	queues, topics := len(e.entities.Queues), len(e.entities.Topics)
	var words []string
	if c.Config != "" {
		words = append(words, fmt.Sprintf("%s and %s of %s",
			plural(queues, "queue", "queues"), plural(topics, "topic", "topics"), filepath.Base(c.Config)))
	}
	if c.AutoCreate {
		words = append(words, "makes what is used")
	} else {
		words = append(words, "refuses what does not exist")
	}
	return strings.Join(words, ", ")
}

// Command consume prints what arrives on a Service Bus queue, on a topic's subscription, on a storage queue, over HTTP and
// on a NATS subject, until it is interrupted. It is an ordinary program on the SDKs of Azure: given other connection
// strings, it reads from Azure.
//
//	carillon dev --ports-file ports.json examples/actions
//	go run ./examples/consume --ports ports.json --queue orders
//	go run ./examples/consume --ports ports.json --topic sales --subscription all
//	go run ./examples/consume --ports ports.json --account carillonexamples --storage-queue orders
//	go run ./examples/consume --http 127.0.0.1:9000
//	go run ./examples/consume --ports ports.json --subject 'lights.>'
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// options is what to read, and from where.
type options struct {
	serviceBus, storage        string // connection strings
	queue, topic, subscription string // of Service Bus
	account, storageQueue      string
	http                       string // address to listen on
	nats, subject              string
}

func main() {
	var o options
	ports := flag.String("ports", "", "read the connection strings from this `file`, which carillon dev --ports-file writes")
	flag.StringVar(&o.serviceBus, "service-bus", "", "`connection string` of the Service Bus namespace")
	flag.StringVar(&o.storage, "storage", "", "`connection string` of the storage account")
	flag.StringVar(&o.queue, "queue", "", "Service Bus queue to read")
	flag.StringVar(&o.topic, "topic", "", "Service Bus topic to read")
	flag.StringVar(&o.subscription, "subscription", "all", "the topic's subscription")
	flag.StringVar(&o.account, "account", "", "storage account, if it is not the account of the connection string")
	flag.StringVar(&o.storageQueue, "storage-queue", "", "storage queue to read")
	flag.StringVar(&o.http, "http", "", "`address` to take HTTP requests on, such as 127.0.0.1:9000")
	flag.StringVar(&o.nats, "nats", "", "`URL` of the NATS server")
	flag.StringVar(&o.subject, "subject", "", "NATS subject to read")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, os.Stdout, *ports, o); err != nil {
		log.Fatal(err) //nolint:gocritic // nothing is left to be stopped
	}
}

// start fills in the connection strings and reads until ctx is done.
func start(ctx context.Context, out io.Writer, ports string, o options) error {
	if ports != "" {
		if err := o.readPorts(ports); err != nil {
			return err
		}
	}
	if o.account != "" {
		o.storage = withAccount(o.storage, o.account)
	}
	return consume(ctx, out, o)
}

// check makes sure that there is something to read, and somewhere to read it.
func (o *options) check() error {
	switch {
	case o.queue == "" && o.topic == "" && o.storageQueue == "" && o.http == "" && o.subject == "":
		return errors.New("nothing to read: give --queue, --topic, --storage-queue, --http or --subject")
	case o.serviceBus == "" && (o.queue != "" || o.topic != ""):
		return errors.New("no connection string of Service Bus: give --service-bus, or the --ports of a running carillon dev")
	case o.storage == "" && o.storageQueue != "":
		return errors.New("no connection string of a storage account: give --storage, or the --ports of a running carillon dev")
	case o.nats == "" && o.subject != "":
		return errors.New("no NATS server: give --nats, or the --ports of a running carillon dev")
	}
	return nil
}

// readPorts takes the connection strings that are not given from a ports file.
func (o *options) readPorts(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var ports struct {
		NATS         string `json:"nats"`
		ServiceBus   string `json:"serviceBus"`
		StorageQueue string `json:"storageQueue"`
	}
	if err := json.Unmarshal(data, &ports); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	o.nats = cmp.Or(o.nats, ports.NATS)
	o.serviceBus = cmp.Or(o.serviceBus, ports.ServiceBus)
	o.storage = cmp.Or(o.storage, ports.StorageQueue)
	return nil
}

// withAccount returns the connection string for another account of the same emulator, which keeps each account under a
// path of its name and has one key for all.
func withAccount(connection, account string) string {
	account = strings.ToLower(account)
	parts := strings.Split(connection, ";")
	var old string
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "AccountName="); ok {
			old, parts[i] = name, "AccountName="+account
		}
	}
	for i, part := range parts {
		if endpoint, ok := strings.CutSuffix(part, "/"+old); ok {
			parts[i] = endpoint + "/" + account
		}
	}
	return strings.Join(parts, ";")
}

// consume reads everything that o names, each by itself, and returns nil when ctx is done, or the first error.
func consume(ctx context.Context, out io.Writer, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &printer{out: out}
	var all sync.WaitGroup
	run := func(name string, read func(ctx context.Context, p *printer, o options) error) {
		all.Go(func() {
			if err := read(ctx, p, o); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	if o.queue != "" {
		run("queue "+o.queue, readQueue)
	}
	if o.topic != "" {
		run("topic "+o.topic, readSubscription)
	}
	if o.storageQueue != "" {
		run("storage queue "+o.storageQueue, readStorageQueue)
	}
	if o.http != "" {
		run("http "+o.http, readHTTP)
	}
	if o.subject != "" {
		run("subject "+o.subject, readSubject)
	}
	all.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// printer prints messages whole, though they come from several readers.
type printer struct {
	mu  sync.Mutex
	out io.Writer
}

// say prints a line that is of no message.
func (p *printer) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.out, line)
}

func (p *printer) print(from, id, text string, has properties) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%s  %s\n", from, id)
	if list, err := json.Marshal(has); err == nil && string(list) != "{}" { // what cannot be shown is left out
		fmt.Fprintf(p.out, "    %s\n", list)
	}
	fmt.Fprintf(p.out, "    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
}

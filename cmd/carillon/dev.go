package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/cmd/carillon/emulate"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/jobs"
	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/profiles"
	"github.com/carillon-sched/carillon/cmd/carillon/secrets"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	who "github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/embedded"
)

type devCmd struct {
	terminal.Logging `embed:"" set:"loglevel=warn"`
	historyFlags     `embed:""`

	Paths     []string `arg:"" name:"path" optional:"" help:"Job files, or directories of them, to apply at the start."`
	Watch     bool     `short:"w" help:"Apply job files again when they change. Jobs whose files go away stay."`
	HTTP      string   `name:"http" help:"Where the REST API and /echo listen." default:"127.0.0.1:8080" placeholder:"ADDR"`
	NATS      string   `name:"nats" help:"Where the embedded NATS server listens." default:"127.0.0.1:4222" placeholder:"ADDR"`
	AMQP      string   `name:"amqp" help:"Where the Service Bus emulator listens." default:"127.0.0.1:5672" placeholder:"ADDR"`
	Queue     string   `name:"queue" help:"Where the storage queue emulator listens." default:"127.0.0.1:10001" placeholder:"ADDR"`
	Insecure  bool     `name:"insecure-listen" help:"Let these addresses be others than loopback ones, though nothing asks for a password."`
	Data      string   `help:"Directory of jobs, history and the emulators' messages; one process at a time can use it." default:".carillon" placeholder:"DIR"`
	Sync      string   `help:"How long a write may wait for the disk (what a power cut can cost), or always." default:"1s" placeholder:"DURATION"`
	Hold      byteSize `name:"hold-memory" help:"Memory for jobs that are due, or soon will be, and their definitions." default:"160MiB" placeholder:"SIZE"`
	History   byteSize `name:"history-memory" help:"Memory for an index of the history, which is made when somebody looks for records. 0: none." default:"256MiB" placeholder:"SIZE"`
	Allow     []string `name:"allow-target" help:"Addresses that jobs may reach beside loopback ones: one, or a network as CIDR, 10.1.0.0/16. May be repeated." placeholder:"CIDR"`
	Hosts     []string `name:"allowed-host" help:"Names that the HTTP servers answer to, beside those of loopback addresses: a name, or *.example.com. May be repeated." placeholder:"NAME"`
	Pprof     string   `help:"Serve Go's profiles of this process there, at /debug/pprof/, for go tool pprof. A loopback address: they tell what is in its memory. Default: nowhere." placeholder:"ADDR"`
	Login     string   `name:"login-endpoint" help:"Authority that gives ActiveDirectoryOAuth jobs their tokens: https://login.microsoftonline.com is Azure's. Without it, /echo/token does." placeholder:"URL"`
	NoConsole bool     `name:"no-console" help:"Serve no web console."`
	Strings   bool     `name:"show-connections" help:"Print the emulators' connection strings."`
	PortsFile string   `help:"Write the addresses and connection strings to this file, as JSON, once everything runs." placeholder:"FILE"`
}

// Help shows examples.
func (devCmd) Help() string {
	return `Runs a NATS server, a scheduler and targets to deliver to, all in one process, and prints one line for each
attempt: when it started, the job, the outcome, how late it was. The jobs and their history are kept in the
data directory until the next start.

The target is /echo on the HTTP address: it answers what it received. /echo/status/503 answers that status,
/echo/delay/2s answers after that time. Job files reach it as ${CARILLON_ECHO}, on whatever port it listens.

Emulators of Azure Service Bus and of storage queues run too. They take every namespace, every account and any
key, make queues, topics and subscriptions when they are first used, and keep them in the data directory.
--show-connections prints their connection strings; the ports file has them too. The Service Bus admin clients and
its HTTP interface have a free port, which the start and the ports file tell. "carillon emulate" runs the
emulators alone, with settings.

The secrets of jobs, and those of "carillon secrets", are sealed with a key that the first start makes in the data
directory (secret.key).

Retries may be as short as one second here. Port 0 takes a free port. Everything is open to every program of this
machine, which is why only loopback addresses are listened on, unless --insecure-listen is given. The first access token
("carillon token create") closes the REST API, and nothing else.

SIGTERM stops it in good order (exit code 0), and Ctrl-C does so too (130).

Examples:

    carillon dev examples/jobs
    carillon dev --watch my-jobs
    carillon dev --http 127.0.0.1:0 --nats 127.0.0.1:0 --amqp 127.0.0.1:0 --queue 127.0.0.1:0 --ports-file ports.json`
}

// defaultConcurrency is the default of "carillon serve".
const defaultConcurrency = 256

// devGrace is the grace period of a stop, short because the user waits after Ctrl-C. The next start repeats
// interrupted attempts.
const devGrace = 3 * time.Second

// dev is a running `carillon dev`.
type dev struct {
	cmd       devCmd
	t         *terminal.Terminal
	listener  net.Listener
	profiles  *listen.Side // nil without
	nats      *embedded.Server
	emulators *emulate.Servers
	node      atomic.Pointer[node.Node]
	jobs      *jobs.Watcher
	records   *printer.Queue
	example   string // a job for the suggested commands; "" without one
	side      sync.WaitGroup
}

// Run runs until it is interrupted.
func (c devCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	if _, err := (deliveryFlags{AllowTarget: c.Allow, LoginEndpoint: c.Login}).delivery(); err != nil {
		return err
	}
	if err := enoughFiles(connlimit.Files()); err != nil {
		return err
	}
	l, err := listen.HTTP(ctx, c.HTTP, c.PortsFile)
	if err != nil {
		return err
	}
	defer l.Close()
	prof, err := profiles.Start(ctx, c.Pprof, c.Logger(t.Err))
	if err != nil {
		return err
	}
	defer prof.Close()
	server, err := c.startNATS(ctx, t)
	if err != nil {
		return asked(ctx, err)
	}
	defer server.Close()
	e, err := emulate.Start(ctx, c.emulation(ctx, t))
	if err != nil {
		return err
	}
	d := &dev{cmd: c, t: t, listener: l, profiles: prof, nats: server, emulators: e}
	running, end := context.WithCancel(ctx)
	defer end()
	go func() {
		e.Wait(running)
		end()
	}()
	err = asked(running, d.run(running))
	return errors.Join(err, e.Close()) //nolint:contextcheck // the emulators end after the scheduler that uses them
}

// listeners are the flags that say where to listen.
func (c devCmd) listeners() []listen.Flag {
	return []listen.Flag{
		{Name: "http", Addr: c.HTTP}, {Name: "nats", Addr: c.NATS}, {Name: "amqp", Addr: c.AMQP}, {Name: "queue", Addr: c.Queue},
	}
}

// check validates the flags.
func (c devCmd) check(ctx context.Context) error {
	err := errors.Join(listen.Check(c.listeners()...), listen.CheckHosts(c.Hosts), checkHold(c.Hold), c.historyFlags.check(),
		profiles.CheckAddress(ctx, c.Pprof))
	if err != nil {
		return err
	}
	if _, err := c.syncInterval(); err != nil {
		return err
	}
	if c.Watch && !slices.ContainsFunc(c.Paths, func(path string) bool { return path != jobfile.Stdin }) {
		return terminal.Hinted(terminal.Usagef("--watch: there is nothing to watch"),
			"name job files, or directories of them: carillon dev --watch my-jobs")
	}
	if c.Insecure {
		return nil
	}
	return listen.RefuseExposed(ctx, c.listeners()...)
}

// adminAddr is where the Service Bus emulator is administered.
const adminAddr = "127.0.0.1:0"

// emulation runs both emulators, for programs with any connection string.
func (c devCmd) emulation(ctx context.Context, t *terminal.Terminal) emulate.Config {
	log := c.Logger(t.Err)
	return emulate.Config{
		Data: c.Data,
		Bus: &servicebus.Config{
			Addr: c.AMQP, HTTPAddr: adminAddr, Auth: servicebus.Lenient, AutoCreate: true, Logger: log,
			AllowHost: listen.Hosts(ctx, adminAddr, c.Hosts),
		},
		Queue: &storagequeue.Config{
			Addr: c.Queue, Keys: storagequeue.Lenient, AutoCreate: true, Logger: log, AllowHost: listen.Hosts(ctx, c.Queue, c.Hosts),
		},
	}
}

// syncAlways is the --sync with which every write waits for the disk.
const syncAlways = "always"

// syncInterval returns how long a write may wait for the disk; 0 for --sync always.
func (c devCmd) syncInterval() (time.Duration, error) {
	if c.Sync == syncAlways {
		return 0, nil
	}
	d, err := time.ParseDuration(c.Sync)
	if err != nil || d <= 0 {
		return 0, terminal.Usagef("--sync: %q is neither a duration such as 1s nor always", c.Sync)
	}
	return d, nil
}

func (c devCmd) startNATS(ctx context.Context, t *terminal.Terminal) (*embedded.Server, error) {
	cfg := embedded.Config{
		Dir: c.Data, Addr: c.NATS, Logger: c.Logger(t.Err), SyncAlways: c.Sync == syncAlways,
		MaxConnections: connlimit.Share(connlimit.Files()),
	}
	cfg.SyncInterval, _ = c.syncInterval() // which was checked
	_, percent := t.Lookup("GOGC")
	_, limit := t.Lookup("GOMEMLIMIT")
	if !percent && !limit {
		embedded.TuneMemory()
	}
	return embedded.Start(ctx, cfg)
}

// run opens the scheduler on the running server, applies the job files, and
// works.
func (d *dev) run(ctx context.Context) error {
	log := d.cmd.Logger(d.t.Err)
	link := node.NewLink(log, d.reconnected)
	nc, err := d.nats.Connect(link.Options()...)
	if err != nil {
		return terminal.Unavailable(err)
	}
	defer node.CloseConn(nc)
	keys, err := secrets.OwnKeys(filepath.Join(d.cmd.Data, secrets.KeyFileName))
	if err != nil {
		return err
	}
	d.records = printer.NewQueue(d.t)
	defer d.records.End()
	delivery, err := d.delivery()
	if err != nil {
		return err
	}
	sender, err := startTracing(ctx, d.t, log)
	if err != nil {
		return err
	}
	defer sender.Close(ctx)
	log = sender.Logger(log)
	n, err := node.Open(ctx, node.Config{
		Store: store.Config{
			SyncAlways: d.cmd.Sync == syncAlways, HistoryAge: d.cmd.HistoryAge, HistoryPerJob: perJob(d.cmd.HistoryPer),
		},
		Tracer: sender.Tracer(),
		Conn:   nc, Link: link, Listener: d.listener, Keys: keys, Logger: log, Version: thisBuild().Version,
		Mend: d.nats.Restart, Space: d.nats.Space,
		Access:    who.Config{Demand: who.OnceThereAre, Local: len(listen.Exposed(ctx, d.cmd.listeners()[0])) == 0},
		NoConsole: d.cmd.NoConsole, Rooms: []frame.Room{queues.Room(d.emulators.Room("carillon dev --show-connections"))},
		Handlers: echoes(), Delivery: delivery, AllowHost: listen.Hosts(ctx, d.cmd.HTTP, d.cmd.Hosts),
		Limits: scheduler.Limits{MinRetryInterval: jobs.DevMinRetry}, HistoryMemory: d.cmd.History.orNone(),
		Worker: engine.Config{
			OnRecord: d.records.Take, Grace: devGrace, Concurrency: min(defaultConcurrency, connlimit.Share(connlimit.Files())),
			HoldMemory: int(d.cmd.Hold),
		},
	})
	if err != nil {
		return err
	}
	d.node.Store(n)
	if err := d.greet(ctx); err != nil {
		return err
	}
	if err := d.applyFiles(ctx); err != nil {
		return err
	}
	d.suggest()
	quiet := context.AfterFunc(ctx, func() { d.notef("stopping; a second signal ends it at once") })
	defer quiet()
	err = n.Run(ctx, func() error { return d.ready(ctx) })
	d.side.Wait()
	return errors.Join(err, listen.RemovePorts(d.cmd.PortsFile))
}

// reconnected notifies the scheduler of a server restart.
func (d *dev) reconnected() {
	if n := d.node.Load(); n != nil {
		n.Reconnected()
	}
}

// delivery sends jobs for Azure to the emulators, and lets all jobs reach this machine.
func (d *dev) delivery() (builtin.Config, error) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	flags := deliveryFlags{AllowTarget: d.cmd.Allow, LoginEndpoint: cmp.Or(d.cmd.Login, d.url()+client.EchoPath+"/token")}
	delivery, err := flags.delivery(loopback...)
	p := d.emulators.Ports()
	delivery.ServiceBus.Default, delivery.AnyKey = "amqp://"+p.AMQP, true
	delivery.StorageQueues.Default = p.Queue + "/{name}"
	for _, l := range []string{d.listener.Addr().String(), p.AMQP, strings.TrimPrefix(p.Queue, "http://")} {
		delivery.Guard.AllowListener(l)
	}
	return delivery, err
}

// applyFiles applies the job files. A problem ends the start, unless the files are watched and can be fixed.
func (d *dev) applyFiles(ctx context.Context) error {
	if len(d.cmd.Paths) == 0 {
		return nil
	}
	reader := jobfile.Reader{Lookup: jobs.LookupWith(d.t.Lookup, d.url()+client.EchoPath), Stdin: d.t.Input(ctx)}
	d.jobs = jobs.NewWatcher(d.t, reader, d.put, d.cmd.Paths)
	results, err := d.jobs.Apply(ctx)
	for _, r := range results {
		if r.Job.IsCollection() {
			continue
		}
		d.records.Widen(r.Job.Key.String())
		if d.example == "" && r.Result != "" && r.Over == "" {
			d.example = r.Job.Key.String()
		}
	}
	if d.cmd.Watch {
		d.t.Fail(err)
		return nil
	}
	return err
}

// put puts a job without a way over HTTP.
func (d *dev) put(ctx context.Context, j jobfile.Job) (jobfile.Answer, error) {
	ctx = auth.With(ctx, &auth.Principal{Name: "carillon dev", Via: auth.ViaFiles})
	s := d.node.Load().Service()
	if j.IsCollection() {
		_, result, err := s.PutCollection(ctx, j.Key.Collection, j.Body)
		return jobfile.Answer{Result: result}, err
	}
	v, _, err := s.Put(ctx, control.Edit{Key: j.Key, Body: j.Body})
	if err != nil {
		return jobfile.Answer{}, err
	}
	return jobfile.Answer{Result: v.Result, Over: v.Status.Over, Warnings: v.Warnings}, nil
}

// ready announces that everything runs.
func (d *dev) ready(ctx context.Context) error {
	if d.cmd.Watch && d.jobs != nil {
		d.side.Go(func() { d.jobs.Watch(ctx) })
	}
	return d.ports().Write(d.cmd.PortsFile)
}

// echoes returns the handlers of /echo and the paths below it.
func echoes() map[string]http.Handler {
	h := echo.Handler()
	return map[string]http.Handler{client.EchoPath: h, client.EchoPath + "/": h}
}

// ports is where everything can be reached.
func (d *dev) ports() listen.Ports {
	p := d.emulators.Ports()
	p.HTTP, p.NATS, p.Pprof = d.url(), d.nats.URL(), d.profiles.URL()
	return p
}

// url is where the REST API is.
func (d *dev) url() string { return "http://" + listen.Reachable(d.listener.Addr().String()) }

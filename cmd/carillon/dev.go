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
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	who "github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/embedded"
)

type devCmd struct {
	terminal.Logging `embed:"" set:"loglevel=warn"`
	historyFlags     `embed:""`
	eventFlags       `embed:""`
	consoleFlags     `embed:""`

	Paths     []string `arg:"" name:"path" optional:"" help:"Job files, or directories of job files, to apply at startup."`
	Watch     bool     `short:"w" help:"Apply job files again when they change. Deleting a file does not delete its jobs."`
	HTTP      string   `name:"http" help:"Address of the REST API and /echo." default:"127.0.0.1:8080" placeholder:"ADDR"`
	NATS      string   `name:"nats" help:"Address of the embedded NATS server." default:"127.0.0.1:4222" placeholder:"ADDR"`
	AMQP      string   `name:"amqp" help:"Address of the Service Bus emulator." default:"127.0.0.1:5672" placeholder:"ADDR"`
	Queue     string   `name:"queue" help:"Address of the storage queue emulator." default:"127.0.0.1:10001" placeholder:"ADDR"`
	Insecure  bool     `name:"insecure-listen" help:"Allow addresses other than loopback, although the listeners do not require a password."`
	Data      string   `help:"Directory of jobs, history and the emulators' messages; one process at a time can use it." default:".carillon" placeholder:"DIR"`
	Sync      string   `help:"Interval of syncing writes to disk (a power failure can lose this much), or always." default:"1s" placeholder:"DURATION"`
	Hold      byteSize `name:"hold-memory" help:"Memory for batons that are due soon, including definitions." default:"160MiB" placeholder:"SIZE"`
	History   byteSize `name:"history-memory" help:"Memory for the history index, which the first search builds. 0: no index." default:"256MiB" placeholder:"SIZE"`
	Allow     []string `name:"allow-target" help:"Allow jobs to call these addresses or networks, such as 10.1.0.0/16, in addition to loopback. Repeatable." placeholder:"CIDR"`
	Hosts     []string `name:"allowed-host" help:"Host names that the HTTP servers accept in addition to loopback names, such as *.example.com. Repeatable." placeholder:"NAME"`
	Pprof     string   `help:"Serve Go profiles at /debug/pprof/ on this address. Use a loopback address: profiles expose memory content. Default: off." placeholder:"ADDR"`
	Login     string   `name:"login-endpoint" help:"Token authority for ActiveDirectoryOAuth, such as https://login.microsoftonline.com (Azure). Default: /echo/token." placeholder:"URL"`
	NoConsole bool     `name:"no-console" help:"Disable the web console."`
	Strings   bool     `name:"show-connections" help:"Print the emulators' connection strings."`
	PortsFile string   `help:"Write the addresses and connection strings to this file as JSON after startup." placeholder:"FILE"`
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
	return errors.Join(err, e.Close()) //nolint:contextcheck // the scheduler uses the emulators until it has stopped
}

// listeners returns the flags with listener addresses.
func (c devCmd) listeners() []listen.Flag {
	return []listen.Flag{
		{Name: "http", Addr: c.HTTP}, {Name: "nats", Addr: c.NATS}, {Name: "amqp", Addr: c.AMQP}, {Name: "queue", Addr: c.Queue},
	}
}

// check validates the flags.
func (c devCmd) check(ctx context.Context) error {
	err := errors.Join(listen.Check(c.listeners()...), listen.CheckHosts(c.Hosts),
		checkLeast("hold-memory", c.Hold, leastHold), c.historyFlags.check(), c.eventFlags.check(), c.consoleFlags.check(),
		profiles.CheckAddress(ctx, c.Pprof))
	if err != nil {
		return err
	}
	if _, err := c.syncInterval(); err != nil {
		return err
	}
	if c.Watch && !slices.ContainsFunc(c.Paths, func(path string) bool { return path != jobfile.Stdin }) {
		return terminal.Hinted(terminal.Usagef("--watch: names no files"),
			"name job files or directories: carillon dev --watch my-jobs")
	}
	if c.Insecure {
		return nil
	}
	return listen.RefuseExposed(ctx, c.listeners()...)
}

// adminAddr is the address of the Service Bus emulator's management API.
const adminAddr = "127.0.0.1:0"

// emulation configures both emulators to accept any connection string.
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

// syncAlways is the value of --sync that syncs every write to disk.
const syncAlways = "always"

// syncInterval returns the interval of syncs to disk; 0 for --sync always.
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
	cfg.SyncInterval, _ = c.syncInterval() // checked by check
	if !tuned(t.Lookup) {
		embedded.TuneMemory()
	}
	return embedded.Start(ctx, cfg)
}

// run opens the scheduler on the running server, applies the job files, and runs jobs.
func (d *dev) run(ctx context.Context) error {
	log := d.cmd.Logger(d.t.Err)
	link := node.NewLink(log, func() { d.node.Load().Reconnected() })
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
	words.Use(d.cmd.Language)
	n, err := node.Open(ctx, node.Config{
		Store: store.Config{
			SyncAlways: d.cmd.Sync == syncAlways, HistoryAge: d.cmd.HistoryAge, HistoryPerJob: perJob(d.cmd.HistoryPer),
			EventAge: d.cmd.EventAge, EventBytes: int64(d.cmd.EventBytes),
		},
		Tracer: sender.Tracer(),
		Conn:   nc, Link: link, Listener: d.listener, Keys: keys, Logger: log, Version: thisBuild().Version,
		RestartServer: d.nats.Restart, Space: d.nats.Space,
		Access:    who.Config{Demand: who.OnceThereAre, Local: len(listen.Exposed(ctx, d.cmd.listeners()[0])) == 0},
		NoConsole: d.cmd.NoConsole, Sections: []frame.Section{queues.Section(d.emulators.ConsoleConfig("carillon dev --show-connections"))},
		TraceURL: frame.TraceURL(d.cmd.TraceURL),
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
	quiet := context.AfterFunc(ctx, func() { d.notef("stopping; a second signal exits immediately") })
	defer quiet()
	err = n.Run(ctx, func() error { return d.ready(ctx) })
	d.side.Wait()
	return errors.Join(err, listen.RemovePorts(d.cmd.PortsFile))
}

// delivery redirects Azure targets to the emulators and allows loopback targets.
func (d *dev) delivery() (builtin.Config, error) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	flags := deliveryFlags{AllowTarget: d.cmd.Allow, LoginEndpoint: cmp.Or(d.cmd.Login, d.url()+client.EchoPath+"/token")}
	delivery, err := flags.delivery(loopback...)
	p := d.emulators.Ports()
	delivery.SourceSubjects = []string{">"}
	delivery.ServiceBus.Default, delivery.AnyKey = "amqp://"+p.AMQP, true
	delivery.StorageQueues.Default = p.Queue + "/{name}"
	for _, l := range []string{d.listener.Addr().String(), p.AMQP, strings.TrimPrefix(p.Queue, "http://")} {
		delivery.Guard.AllowListener(l)
	}
	return delivery, err
}

// applyFiles applies the job files. A problem aborts startup, unless --watch lets the user fix it.
func (d *dev) applyFiles(ctx context.Context) error {
	if len(d.cmd.Paths) == 0 {
		return nil
	}
	reader := jobfile.Reader{Lookup: jobs.LookupWith(d.t.Lookup, d.url()+client.EchoPath), Stdin: d.t.Input(ctx)}
	d.jobs = jobs.NewWatcher(d.t, reader, d.put, d.cmd.Paths)
	results, err := d.jobs.Apply(ctx)
	for _, r := range results {
		if r.Job.IsCollection() || r.Job.OfEvents {
			continue
		}
		d.records.Widen(r.Job.Key.String())
		if d.example == "" && r.Result != "" && r.Message == "" {
			d.example = r.Job.Key.String()
		}
	}
	if d.cmd.Watch {
		d.t.Fail(err)
		return nil
	}
	return err
}

// put puts a job directly, not over HTTP.
func (d *dev) put(ctx context.Context, j jobfile.Job) (jobfile.Answer, error) {
	ctx = auth.With(ctx, &auth.Principal{Name: "carillon dev", Via: auth.ViaFiles})
	s := d.node.Load().Service()
	if j.IsCollection() {
		_, result, err := s.PutCollection(ctx, j.Key.Collection, j.Body)
		return jobfile.Answer{Result: result}, err
	}
	if j.OfEvents {
		_, result, err := s.PutSource(ctx, j.Key, j.Body)
		return jobfile.Answer{Result: result}, err
	}
	v, _, err := s.Put(ctx, control.Edit{Key: j.Key, Body: j.Body})
	if err != nil {
		return jobfile.Answer{}, err
	}
	return jobfile.Answer{Result: v.Result, Message: v.Status.Message, Warnings: v.Warnings}, nil
}

// ready reports that startup is complete.
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

// ports returns the addresses of all listeners.
func (d *dev) ports() listen.Ports {
	p := d.emulators.Ports()
	p.HTTP, p.NATS, p.Pprof = d.url(), d.nats.URL(), d.profiles.URL()
	return p
}

// url returns the URL of the REST API.
func (d *dev) url() string { return "http://" + listen.Reachable(d.listener.Addr().String()) }

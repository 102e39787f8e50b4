package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/profiles"
	"github.com/carillon-sched/carillon/cmd/carillon/secrets"
	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/cmd/carillon/tracing"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
)

type serveCmd struct {
	terminal.Logging `embed:"" set:"loglevel=info"`
	natsFlags        `embed:"" group:"Connection to NATS"`
	deliveryFlags    `embed:"" group:"What jobs may reach"`
	storeFlags       `embed:"" group:"What is stored"`
	workFlags        `embed:"" group:"How much is done at once"`
	secrets.KeyFlags `embed:"" group:"Secrets"`
	accessFlags      `embed:"" group:"Who may use the REST API"`

	Config       string        `help:"File of settings, as YAML: the flags by their names. Flags and variables come before it; see carillon config." env:"CARILLON_SERVE_CONFIG" placeholder:"FILE" setting:"-"`
	HTTP         string        `name:"http" help:"Where the REST API listens. On a loopback address it is open until there is a token; on others it asks for one." env:"CARILLON_HTTP" default:"127.0.0.1:8080" placeholder:"ADDR"`
	Hosts        []string      `name:"allowed-host" help:"Names that the REST API answers to. On a loopback address those of such addresses come beside, and it asks for a token; elsewhere addresses, and without this flag it answers to all. A name, or *.example.com; may be repeated." env:"CARILLON_ALLOWED_HOST" placeholder:"NAME" live:""`
	Connections  int           `name:"http-connections" help:"How many connections the API serves at once; the next one takes the place of the one that has been silent longest. 0: an eighth of the files that the process may open, at most 4096." env:"CARILLON_HTTP_CONNECTIONS" default:"0" placeholder:"N"`
	NoConsole    bool          `name:"no-console" help:"Serve no web console." env:"CARILLON_NO_CONSOLE"`
	Echo         bool          `help:"Answer at /echo what was received, to try jobs out." env:"CARILLON_SERVE_ECHO"`
	Region       string        `help:"What targets are told as x-ms-scheduler-execution-region." env:"CARILLON_REGION" placeholder:"NAME"`
	Proxy        string        `help:"Proxy that jobs' requests over HTTP go through: http, https, socks5 or socks5h." env:"CARILLON_PROXY" placeholder:"URL" userinfo:""`
	PortsFile    string        `help:"Write the addresses to this file, as JSON, once everything runs." env:"CARILLON_PORTS_FILE" placeholder:"FILE"`
	Pprof        string        `help:"Serve Go's profiles of this process there, at /debug/pprof/, for go tool pprof. A loopback address: they tell what is in its memory. Default: nowhere." env:"CARILLON_PPROF" placeholder:"ADDR"`
	Metrics      string        `help:"Serve what is at /metrics of the REST API on an address of its own too, where nobody is asked who they are. It tells counts, and no names of jobs or targets." env:"CARILLON_METRICS" placeholder:"ADDR"`
	MinRetryTime time.Duration `name:"min-retry-interval" help:"Shortest retryInterval of jobs, where a collection sets none." env:"CARILLON_MIN_RETRY_INTERVAL" default:"15s" placeholder:"DURATION"`
}

type natsFlags struct {
	natsConn `embed:""`

	Sync bool          `name:"nats-sync-always" help:"The NATS server waits for the disk at every write: sync_interval is always there. Records then wait together, and jobs that are due at one instant are fired earlier." env:"CARILLON_NATS_SYNC_ALWAYS"`
	Wait time.Duration `name:"nats-wait" help:"How long to wait at the start for a server that does not answer, or a cluster that has just formed." env:"CARILLON_NATS_WAIT" default:"30s" placeholder:"DURATION"`
}

// natsConn are the flags of a connection to NATS.
type natsConn struct {
	URL   string `name:"nats-url" help:"Addresses of NATS servers, separated by commas." env:"CARILLON_NATS_URL" default:"nats://127.0.0.1:4222" placeholder:"URL" listed:"," userinfo:""`
	Creds string `help:"Credentials file of the NATS user." env:"CARILLON_CREDS" type:"existingfile" placeholder:"FILE"`
	Inbox string `name:"inbox-prefix" help:"What the NATS user gets its answers below, such as _INBOX_carillon." env:"CARILLON_INBOX_PREFIX" default:"_INBOX" placeholder:"NAME"`
	CA    string `name:"nats-ca" help:"Authorities of the servers to trust, in place of the system's, as PEM." env:"CARILLON_NATS_CA" type:"existingfile" placeholder:"FILE"`
	Cert  string `name:"nats-cert" help:"Client certificate, as PEM." env:"CARILLON_NATS_CERT" type:"existingfile" placeholder:"FILE"`
	Key   string `name:"nats-key" help:"Key of the client certificate, as PEM." env:"CARILLON_NATS_KEY" type:"existingfile" placeholder:"FILE"`
}

// historyFlags are the flags that bound the history.
type historyFlags struct {
	HistoryAge time.Duration `help:"How long history is kept, as far as --history-per-job has room for it." env:"CARILLON_HISTORY_AGE" default:"1440h" placeholder:"DURATION"`
	HistoryPer int64         `name:"history-per-job" help:"How many records of each outcome a job keeps, and so what limits the age; 0: no limit." env:"CARILLON_HISTORY_PER_JOB" default:"90000" placeholder:"N"`
}

// check rejects bounds that the store would replace with its defaults.
func (h historyFlags) check() error {
	return errors.Join(checkLeast("history-age", h.HistoryAge, time.Second), checkLeast("history-per-job", h.HistoryPer, 0))
}

type storeFlags struct {
	historyFlags `embed:""`

	Prefix    string        `help:"Begins every subject, stream and bucket name; schedulers with different ones share nothing." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
	Lanes     int           `help:"Partitions of the waiting jobs, 1 to 256; fixed at the first start. 0: as stored, or 1." env:"CARILLON_LANES" default:"0" placeholder:"N"`
	Replicas  int           `help:"Copies of everything in a NATS cluster, 1 to 5; what has fewer gets more. 0: as stored, or 1." env:"CARILLON_REPLICAS" default:"0" placeholder:"N"`
	Reduce    bool          `name:"reduce-replicas" help:"Let --replicas give up copies, when it is less than what is stored." env:"CARILLON_REDUCE_REPLICAS"`
	Spread    time.Duration `name:"spread-leaders" help:"How long some servers of a NATS cluster may lead more streams than others before one is asked to give a stream up. 0: they are left alone." env:"CARILLON_SPREAD_LEADERS" default:"1m" placeholder:"DURATION"`
	Storage   string        `help:"Where NATS keeps it: file or memory, which is for tests." enum:"file,memory" env:"CARILLON_STORAGE" default:"file" placeholder:"KIND"`
	AuditAge  time.Duration `help:"How long it is kept who changed what; see carillon audit." env:"CARILLON_AUDIT_AGE" default:"9600h" placeholder:"DURATION"`
	FinalAge  time.Duration `help:"How long completed and faulted jobs are kept, at least an hour." env:"CARILLON_FINAL_AGE" default:"1440h" placeholder:"DURATION"`
	ResultAge time.Duration `help:"How long the results of published specs are kept." env:"CARILLON_RESULT_AGE" default:"168h" placeholder:"DURATION"`
}

type workFlags struct {
	Concurrency int           `help:"Attempts in flight." env:"CARILLON_CONCURRENCY" default:"256" placeholder:"N"`
	PerTarget   int           `help:"Of these, to one host and port. It begins with 8, and earns one with each success or answer within a second. 0: a quarter." env:"CARILLON_PER_TARGET" default:"0" placeholder:"N"`
	HoldMemory  byteSize      `help:"Memory for jobs that are due, or soon will be, and their definitions: of a herd, as many as fit are ready at the instant. What the process needs is twice that, and a bit." env:"CARILLON_HOLD_MEMORY" default:"160MiB" placeholder:"SIZE"`
	History     byteSize      `name:"history-memory" help:"Memory for an index of the history, which is made when somebody looks for records and dropped ten minutes after the last one did; what has no room in it is found slowly. 0: none." env:"CARILLON_HISTORY_MEMORY" default:"256MiB" placeholder:"SIZE"`
	Grace       time.Duration `help:"How long a stop waits for running attempts before it leaves them to another process." env:"CARILLON_GRACE" default:"20s" placeholder:"DURATION"`
}

// Help shows examples.
func (serveCmd) Help() string {
	return `Any number of these processes share the jobs of one NATS account, with no further setting: all do the same,
and any may be stopped or killed. NATS must be 2.12 or later with JetStream.

/healthz answers while the process lives; /readyz when it works and NATS takes writes, or says why not. SIGTERM stops it in good
order. SIGHUP has it read its settings again. Failed attempts are logged at warn; the others at info on a terminal,
and else at debug. /metrics is for
Prometheus, which needs a reader's token where the API asks for one, or --metrics: see "carillon docs monitoring".

A start waits for NATS, also for a cluster that has just formed, as long as --nats-wait says. Jobs that call
${CARILLON_ECHO}, as the examples do, need --echo; its variable is CARILLON_SERVE_ECHO.

On a loopback address the REST API is open to every program of this machine, until the first token is made, or with
--auth. On other addresses, and with --allowed-host, it asks for a token (carillon token create), for one of --oidc-issuer, or for a client
certificate; --open asks nobody. Certificates are read again when their files change.

--config names a file with the same settings, as YAML: see "carillon docs configuration". It is read again when it changes.

Examples:

    carillon serve --nats-url nats://127.0.0.1:4222
    carillon serve --nats-url nats://n1,nats://n2,nats://n3 --creds carillon.creds --replicas 3 --lanes 4
    CARILLON_HTTP=0.0.0.0:8080 CARILLON_LOG_FORMAT=json carillon serve
    carillon serve --config /etc/carillon/serve.yaml
    carillon serve --http :8443 --tls-cert server.crt --tls-key server.key
    carillon serve --oidc-issuer https://login.example.com --oidc-audience carillon --oidc-roles groups:platform=admin`
}

// Run runs until it is interrupted.
func (c serveCmd) Run(ctx context.Context, t *terminal.Terminal, line commandLine) error {
	again, deaf := hangups()
	defer deaf()
	seen := settings.Look(c.Config)
	c, set, err := line.settings(ctx, t)
	if err != nil {
		return refusedSettings(t, err)
	}
	if t.JSON {
		c.LogFormat = "json"
	}
	keys, err := c.Keys(t)
	if err != nil {
		return err
	}
	tuneMemory(t.Lookup, c.HoldMemory)
	files := connlimit.Files()
	if err := enoughFiles(files); err != nil {
		return err
	}
	l, err := listen.HTTP(ctx, c.HTTP, c.PortsFile)
	if err != nil {
		return err
	}
	defer l.Close()
	changing := newLive(ctx, c)
	log := c.LoggerFrom(t.Err, &changing.level)
	changing.keeper = settings.New(set, settings.Config{
		Path: c.Config, Seen: seen, Every: settings.Every, Again: again, Read: changing.reader(line, t), Logger: log,
	})
	if fits := min(c.Concurrency, files/filesPerAttempt); fits < c.Concurrency {
		log.Warn("the limit of open files allows fewer attempts at once",
			"concurrency", fits, "asked", c.Concurrency, "files", files, "hint", terminal.FilesHint)
		c.Concurrency = fits
	}
	sender, err := startTracing(ctx, t, log)
	if err != nil {
		return err
	}
	defer sender.Close(ctx)
	log = sender.Logger(log)
	records := printer.NewLog(log, t.Watched())
	defer records.End()
	changing.tracer = sender.Tracer()
	return asked(ctx, c.serve(ctx, l, keys, records, changing, log))
}

func (c serveCmd) serve(
	ctx context.Context, l net.Listener, keys *seal.Keyring, records *printer.Queue, changing *live, log *slog.Logger,
) error {
	var running atomic.Pointer[node.Node]
	prof, err := profiles.Start(ctx, c.Pprof, log)
	if err != nil {
		return err
	}
	defer prof.Close()
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	cfg.Tracer = changing.tracer
	cfg.Listener, cfg.Keys, cfg.Worker.OnRecord = l, keys, records.Take
	cfg.AllowHost, cfg.Settings = changing.hosts.allow, changing.state
	if c.Echo {
		cfg.Handlers = echoes()
		cfg.Delivery.Guard.AllowListener(l.Addr().String())
	}
	admission, err := c.admit(ctx, c.HTTP, c.Hosts, &cfg, log)
	if err != nil {
		return err
	}
	door := node.OpenDoor(cfg)
	defer door.Close()
	cfg.Store.Progress = func(what string) { door.Say("starting: " + what) }
	start := startup{deadline: time.Now().Add(c.Wait), log: log, say: door.Say}
	cfg.Link = node.NewLink(log, func() {
		if n := running.Load(); n != nil {
			n.Reconnected()
		}
	})
	door.Say("starting: connecting to NATS at " + redacted(c.URL))
	nc, err := c.dial(ctx, start, cfg.Link)
	if err != nil {
		return err
	}
	defer node.CloseConn(nc)
	cfg.Conn = nc
	door.Say("starting: looking at what is stored in NATS")
	var side sync.WaitGroup
	defer side.Wait()
	looking, enough := context.WithCancel(ctx)
	defer enough()
	side.Go(func() { admission.run(looking) })
	n, err := start.open(ctx, cfg)
	if err != nil {
		return err
	}
	running.Store(n)
	door.Close()
	changing.guard, changing.admission, changing.node = cfg.Delivery.Guard, admission, n
	side.Go(func() { changing.keeper.Run(looking) })
	scraped, err := listen.Serve(ctx, listen.Flag{Name: "metrics", Addr: c.Metrics}, "/metrics", onlyMetrics(n), log)
	if err != nil {
		return err
	}
	defer scraped.Close()
	quiet := context.AfterFunc(ctx, func() {
		log.Info("stopping; a second signal ends it at once")
		tellSystemd(daemon.SdNotifyStopping, log)
	})
	defer quiet()
	err = n.Run(ctx, func() error {
		here := listen.Ports{NATS: node.Connected(nc), Pprof: prof.URL(), Metrics: scraped.URL()}
		here.HTTP = admission.scheme() + listen.Reachable(l.Addr().String())
		if err := admission.tell(ctx, n, l.Addr(), log); err != nil {
			return err
		}
		log.Info("ready", "http", here.HTTP, "nats", here.NATS, "version", cfg.Version)
		tellSystemd(daemon.SdNotifyReady, log)
		return here.Write(c.PortsFile)
	})
	return errors.Join(err, listen.RemovePorts(c.PortsFile))
}

// tellSystemd notifies the service manager of the process's state, if it expects that (Type=notify of
// systemd.service(5)).
func tellSystemd(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("the service manager cannot be told", "state", state, "err", err)
	}
}

// onlyMetrics serves the metrics of a node, and nothing else.
func onlyMetrics(n *node.Node) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", n.Metrics())
	return mux
}

func (c serveCmd) config(log *slog.Logger) (node.Config, error) {
	delivery, err := c.delivery()
	delivery.Region = c.Region
	delivery.Proxy, _ = readProxy(c.Proxy) // checked
	storage := jetstream.FileStorage
	if c.Storage == "memory" {
		storage = jetstream.MemoryStorage
	}
	return node.Config{
		Store: store.Config{
			Prefix: c.Prefix, Lanes: c.Lanes, Replicas: c.Replicas, ReduceReplicas: c.Reduce, Storage: storage,
			HistoryAge: c.HistoryAge, HistoryPerJob: perJob(c.HistoryPer), FinalAge: c.FinalAge, ResultAge: c.ResultAge,
			AuditAge:   c.AuditAge,
			SyncAlways: c.Sync,
		},
		Limits:         scheduler.Limits{MinRetryInterval: c.MinRetryTime},
		Worker:         engine.Config{Concurrency: c.Concurrency, PerTarget: c.PerTarget, HoldMemory: int(c.HoldMemory), Grace: c.Grace},
		MaxConnections: c.Connections, NoConsole: c.NoConsole, SpreadAfter: c.Spread, HistoryMemory: c.History.orNone(), Delivery: delivery,
		Version: thisBuild().Version, Logger: log,
	}, err
}

// perJob is how many records of each outcome a job keeps when a flag says so.
func perJob(flag int64) int64 {
	if flag == 0 {
		return conn.Unlimited
	}
	return flag
}

// startTracing sends traces where OpenTelemetry's environment variables say; nil when
// they say nothing.
func startTracing(ctx context.Context, t *terminal.Terminal, log *slog.Logger) (*tracing.Sender, error) {
	sender, err := tracing.Start(ctx, tracing.Config{Version: thisBuild().Version, Out: t.Out, Logger: log})
	if err != nil {
		return nil, terminal.Hinted(terminal.Usagef("%v", err), "carillon docs tracing")
	}
	return sender, nil
}

// Open files that this process needs.
const (
	leastFiles      = 128 // for each server its least connections, and the streams
	filesPerAttempt = 2   // half is for attempts, with one connection each
)

// enoughFiles makes sure that a scheduler can work with so many open files: with fewer, it would fail here and there.
func enoughFiles(files int) error {
	if files >= leastFiles {
		return nil
	}
	return terminal.Unavailable(fmt.Errorf("%w: this process may have %d, and needs %d", syscall.EMFILE, files, leastFiles))
}

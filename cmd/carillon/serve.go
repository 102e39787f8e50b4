package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
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
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
)

type serveCmd struct {
	terminal.Logging `embed:"" set:"loglevel=info"`
	natsFlags        `embed:"" group:"NATS connection"`
	deliveryFlags    `embed:"" group:"Targets of jobs"`
	storeFlags       `embed:"" group:"Storage"`
	workFlags        `embed:"" group:"Resource limits"`
	secrets.KeyFlags `embed:"" group:"Secrets"`
	accessFlags      `embed:"" group:"Access control (RBAC)"`
	consoleFlags     `embed:""`

	Config       string        `help:"Read settings from a YAML file, keyed by flag name. Flags and variables override it; see carillon config." env:"CARILLON_SERVE_CONFIG" placeholder:"FILE" setting:"-"`
	HTTP         string        `name:"http" help:"Address of the API and console. On a loopback address, access is open until the first token exists; other addresses require a token." env:"CARILLON_HTTP" default:"127.0.0.1:8080" placeholder:"ADDR"`
	Hosts        []string      `name:"allowed-host" help:"Host names to accept, such as *.example.com. A loopback listener also accepts loopback names, and then requires a token; others also accept IP addresses. Default: all hosts. Repeatable." env:"CARILLON_ALLOWED_HOST" placeholder:"NAME" live:""`
	Connections  int           `name:"http-connections" help:"Maximum number of connections; a new one replaces the one idle longest. 0: an eighth of the open file limit, at most 4096." env:"CARILLON_HTTP_CONNECTIONS" default:"0" placeholder:"N"`
	NoConsole    bool          `name:"no-console" help:"Disable the web console." env:"CARILLON_NO_CONSOLE"`
	Echo         bool          `help:"Serve /echo, which returns the received request, to test jobs." env:"CARILLON_SERVE_ECHO"`
	Region       string        `help:"Value of the header x-ms-scheduler-execution-region." env:"CARILLON_REGION" placeholder:"NAME"`
	Proxy        string        `help:"Proxy for HTTP actions: http, https, socks5 or socks5h." env:"CARILLON_PROXY" placeholder:"URL" userinfo:""`
	PortsFile    string        `help:"Write the listener addresses to this file as JSON after startup." env:"CARILLON_PORTS_FILE" placeholder:"FILE"`
	Pprof        string        `help:"Serve Go profiles at /debug/pprof/ on this address. Use a loopback address: profiles expose memory content. Default: off." env:"CARILLON_PPROF" placeholder:"ADDR"`
	Metrics      string        `help:"Also serve /metrics on this address, without authentication. Exposes counts only, no job or target names." env:"CARILLON_METRICS" placeholder:"ADDR"`
	MinRetryTime time.Duration `name:"min-retry-interval" help:"Minimum retryInterval of jobs, unless the collection sets one." env:"CARILLON_MIN_RETRY_INTERVAL" default:"15s" placeholder:"DURATION"`
}

type natsFlags struct {
	natsConn `embed:""`

	Sync bool          `name:"nats-sync-always" help:"Set this if the NATS server uses sync_interval: always. Carillon then batches records, and fires jobs that are due at one instant earlier." env:"CARILLON_NATS_SYNC_ALWAYS"`
	Wait time.Duration `name:"nats-wait" help:"How long startup waits for NATS to respond and for a new cluster to elect leaders." env:"CARILLON_NATS_WAIT" default:"30s" placeholder:"DURATION"`
}

// consoleFlags configure the console.
type consoleFlags struct {
	Language string `help:"Language of the console: de or en. Messages of the API and descriptions of schedules stay English." env:"CARILLON_LANGUAGE" enum:"de,en" default:"en" placeholder:"LANG"`
	TraceURL string `name:"trace-url" help:"URL of a trace in your tracing UI, such as https://jaeger.example/trace/{traceId}. The console links trace IDs to it." env:"CARILLON_TRACE_URL" placeholder:"URL"`
}

// traceURL matches a URL that browsers can open, with the placeholder behind the host. It has no user.
var traceURL = regexp.MustCompile(`^https?://[^/?#@{\s]+[/?#]\S*` + regexp.QuoteMeta(frame.TraceID) + `\S*$`)

func (f consoleFlags) check() error {
	if f.TraceURL == "" || traceURL.MatchString(f.TraceURL) {
		return nil
	}
	return terminal.Usagef("--trace-url: must be an http or https URL without a user and with %s in place of the ID, such as %s",
		frame.TraceID, "https://jaeger.example/trace/"+frame.TraceID)
}

// natsConn holds the flags of a connection to NATS.
type natsConn struct {
	URL   string `name:"nats-url" help:"URLs of NATS servers, separated by commas." env:"CARILLON_NATS_URL" default:"nats://127.0.0.1:4222" placeholder:"URL" listed:"," userinfo:""`
	Creds string `help:"Credentials file of the NATS user." env:"CARILLON_CREDS" type:"existingfile" placeholder:"FILE"`
	Inbox string `name:"inbox-prefix" help:"Inbox prefix of the NATS user, such as _INBOX_carillon." env:"CARILLON_INBOX_PREFIX" default:"_INBOX" placeholder:"NAME"`
	CA    string `name:"nats-ca" help:"Trust these authorities instead of the system's (PEM)." env:"CARILLON_NATS_CA" type:"existingfile" placeholder:"FILE"`
	Cert  string `name:"nats-cert" help:"Client certificate (PEM)." env:"CARILLON_NATS_CERT" type:"existingfile" placeholder:"FILE"`
	Key   string `name:"nats-key" help:"Key of the client certificate (PEM)." env:"CARILLON_NATS_KEY" type:"existingfile" placeholder:"FILE"`
}

// historyFlags are the flags that bound the history.
type historyFlags struct {
	HistoryAge time.Duration `help:"How long to keep history. --history-per-job can shorten it." env:"CARILLON_HISTORY_AGE" default:"1440h" placeholder:"DURATION"`
	HistoryPer int64         `name:"history-per-job" help:"Records to keep per outcome and job. 0: unlimited." env:"CARILLON_HISTORY_PER_JOB" default:"90000" placeholder:"N"`
}

// check rejects bounds that the store would replace with its defaults.
func (h historyFlags) check() error {
	return errors.Join(checkLeast("history-age", h.HistoryAge, time.Second), checkLeast("history-per-job", h.HistoryPer, 0))
}

// eventFlags are the flags that bound the published events.
type eventFlags struct {
	EventAge   time.Duration `help:"How long to keep published events. At least 2m." env:"CARILLON_EVENT_AGE" default:"168h" placeholder:"DURATION"`
	EventBytes byteSize      `help:"How many bytes of published events to keep. A full stream refuses new events." env:"CARILLON_EVENT_BYTES" default:"1GiB" placeholder:"SIZE"`
}

// check rejects bounds that the store would replace with its defaults, or the NATS server would refuse.
func (e eventFlags) check() error {
	return errors.Join(checkLeast("event-age", e.EventAge, leastEventAge), checkLeast("event-bytes", e.EventBytes, leastEventBytes))
}

// The minimum of the age and size of events: the window in which an ID is unique, and some events of the maximum size.
const (
	leastEventAge   = 2 * time.Minute
	leastEventBytes = 1 << 20
)

type storeFlags struct {
	historyFlags `embed:""`
	eventFlags   `embed:""`

	Prefix    string        `help:"Prefix of all subjects, streams and buckets. Schedulers with different prefixes share nothing." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
	Lanes     int           `help:"Number of lanes, 1 to 256, fixed at the first start. 0: the stored value, or 1." env:"CARILLON_LANES" default:"0" placeholder:"N"`
	Replicas  int           `help:"Copies of all data in a NATS cluster, 1 to 5. A higher value adds copies. 0: the stored value, or 1." env:"CARILLON_REPLICAS" default:"0" placeholder:"N"`
	Reduce    bool          `name:"reduce-replicas" help:"Allow --replicas to remove copies." env:"CARILLON_REDUCE_REPLICAS"`
	Spread    time.Duration `name:"spread-leaders" help:"How long stream leaders can be unevenly distributed in a NATS cluster before Carillon moves one. 0: never." env:"CARILLON_SPREAD_LEADERS" default:"1m" placeholder:"DURATION"`
	Storage   string        `help:"Storage type of NATS streams: file, or memory for tests." enum:"file,memory" env:"CARILLON_STORAGE" default:"file" placeholder:"KIND"`
	AuditAge  time.Duration `help:"How long to keep the audit log; see carillon audit." env:"CARILLON_AUDIT_AGE" default:"9600h" placeholder:"DURATION"`
	FinalAge  time.Duration `help:"How long to keep completed and faulted jobs. At least 1h." env:"CARILLON_FINAL_AGE" default:"1440h" placeholder:"DURATION"`
	ResultAge time.Duration `help:"How long to keep results of published specs." env:"CARILLON_RESULT_AGE" default:"168h" placeholder:"DURATION"`
}

type workFlags struct {
	Concurrency int           `help:"Maximum attempts in flight." env:"CARILLON_CONCURRENCY" default:"256" placeholder:"N"`
	PerTarget   int           `help:"Maximum attempts per host and port. Starts at 8 and grows with each success or response within a second. 0: a quarter of --concurrency." env:"CARILLON_PER_TARGET" default:"0" placeholder:"N"`
	HoldMemory  byteSize      `help:"Memory for batons that are due soon, including definitions. A herd that fits is ready on time. The process needs slightly more than twice this size." env:"CARILLON_HOLD_MEMORY" default:"160MiB" placeholder:"SIZE"`
	History     byteSize      `name:"history-memory" help:"Memory for the history index. A search builds the index; ten idle minutes drop it. Searches beyond it are slow. 0: no index." env:"CARILLON_HISTORY_MEMORY" default:"256MiB" placeholder:"SIZE"`
	Grace       time.Duration `help:"How long a shutdown waits for running attempts before another process repeats them." env:"CARILLON_GRACE" default:"20s" placeholder:"DURATION"`
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
		log.Warn("the open file limit reduces the concurrency",
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
	cfg.AllowHost, cfg.Settings, cfg.ShownSettings = changing.hosts.allow, changing.state, changing.shown
	if c.Echo {
		cfg.Handlers = echoes()
		cfg.Delivery.Guard.AllowListener(l.Addr().String())
	}
	admission, err := c.admit(ctx, c.HTTP, c.Hosts, &cfg, log)
	if err != nil {
		return err
	}
	words.Use(c.Language)
	door := node.OpenDoor(cfg)
	defer door.Close()
	cfg.Store.Progress = func(what string) { door.SetReason("starting: " + what) }
	start := startup{deadline: time.Now().Add(c.Wait), log: log, say: door.SetReason}
	cfg.Link = node.NewLink(log, func() { running.Load().Reconnected() })
	door.SetReason("starting: connecting to NATS at " + redacted(c.URL))
	nc, err := c.dial(ctx, start, cfg.Link)
	if err != nil {
		return err
	}
	defer node.CloseConn(nc)
	cfg.Conn = nc
	door.SetReason("starting: opening the store in NATS")
	var side sync.WaitGroup
	defer side.Wait()
	looking, enough := context.WithCancel(ctx)
	defer enough()
	side.Go(func() { admission.tls.Run(looking) })
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
		log.Info("stopping; a second signal exits immediately")
		notifySystemd(daemon.SdNotifyStopping, log)
	})
	defer quiet()
	err = n.Run(ctx, func() error {
		here := listen.Ports{NATS: node.Connected(nc), Pprof: prof.URL(), Metrics: scraped.URL()}
		here.HTTP = admission.scheme() + listen.Reachable(l.Addr().String())
		if err := admission.warn(ctx, n, l.Addr(), log); err != nil {
			return err
		}
		log.Info("ready", "http", here.HTTP, "nats", here.NATS, "version", cfg.Version)
		notifySystemd(daemon.SdNotifyReady, log)
		return here.Write(c.PortsFile)
	})
	return errors.Join(err, listen.RemovePorts(c.PortsFile))
}

// notifySystemd reports the process's state to the service manager, if it expects that (Type=notify of systemd.service(5)).
func notifySystemd(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("the service manager cannot be notified", "state", state, "err", err)
	}
}

// onlyMetrics serves only the metrics of a node.
func onlyMetrics(n *node.Node) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", n.Metrics())
	return mux
}

func (c serveCmd) config(log *slog.Logger) (node.Config, error) {
	delivery, err := c.delivery()
	delivery.Region = c.Region
	delivery.Proxy, _ = readProxy(c.Proxy) // checked by check
	storage := jetstream.FileStorage
	if c.Storage == "memory" {
		storage = jetstream.MemoryStorage
	}
	return node.Config{
		Store: store.Config{
			Prefix: c.Prefix, Lanes: c.Lanes, Replicas: c.Replicas, ReduceReplicas: c.Reduce, Storage: storage,
			HistoryAge: c.HistoryAge, HistoryPerJob: perJob(c.HistoryPer), FinalAge: c.FinalAge, ResultAge: c.ResultAge,
			AuditAge: c.AuditAge, EventAge: c.EventAge, EventBytes: int64(c.EventBytes),
			SyncAlways: c.Sync,
		},
		Limits:         scheduler.Limits{MinRetryInterval: c.MinRetryTime},
		Worker:         engine.Config{Concurrency: c.Concurrency, PerTarget: c.PerTarget, HoldMemory: int(c.HoldMemory), Grace: c.Grace},
		MaxConnections: c.Connections, NoConsole: c.NoConsole, SpreadAfter: c.Spread, HistoryMemory: c.History.orNone(), Delivery: delivery,
		Version: thisBuild().Version, Logger: log, TraceURL: frame.TraceURL(c.TraceURL),
	}, err
}

// perJob converts --history-per-job, whose 0 means unlimited.
func perJob(flag int64) int64 {
	if flag == 0 {
		return conn.Unlimited
	}
	return flag
}

// startTracing exports traces as OpenTelemetry's environment variables configure. It returns nil if they configure nothing.
func startTracing(ctx context.Context, t *terminal.Terminal, log *slog.Logger) (*tracing.Sender, error) {
	sender, err := tracing.Start(ctx, tracing.Config{Version: thisBuild().Version, Out: t.Out, Logger: log})
	if err != nil {
		return nil, terminal.Hinted(terminal.Usagef("%v", err), "carillon docs traces")
	}
	return sender, nil
}

// Open files that the process needs.
const (
	leastFiles      = 128 // minimum connections of each server, and the streams
	filesPerAttempt = 2   // half of the files are for attempts, with one connection each
)

// enoughFiles returns an error if the open file limit is too low for a scheduler, which would fail sporadically.
func enoughFiles(files int) error {
	if files >= leastFiles {
		return nil
	}
	return terminal.Unavailable(fmt.Errorf("%w: the limit is %d, must be at least %d", syscall.EMFILE, files, leastFiles))
}

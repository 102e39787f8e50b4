// Package tracing sends the traces of a process where OpenTelemetry's environment
// variables say: over OTLP, to the console, or, without any of them, nowhere. To send
// them never disturbs a run: what cannot be sent in time is dropped, and the log says
// so now and then.
package tracing

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Config configures tracing. Version is required.
type Config struct {
	Version string

	// Out is where the console exporter writes. Default: stdout.
	Out io.Writer

	// Logger receives failures to send spans. Default: discard.
	Logger *slog.Logger
}

// Sender sends spans until it is closed. A nil one sends nothing.
type Sender struct {
	provider *sdk.TracerProvider
	log      *slog.Logger
}

// flushPatience is how long the end of a process waits for the last spans to be sent.
const flushPatience = 3 * time.Second

// Start starts to send spans as the environment configures; it returns nil without a configuration. The error
// names the invalid variable.
func Start(ctx context.Context, cfg Config) (*Sender, error) {
	env, err := read(os.Getenv)
	if err != nil || env.exporter == exportNothing {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	otel.SetLogger(logr.Discard()) // its complaints have values of variables in them, which were checked
	otel.SetErrorHandler(&complaints{log: cfg.Logger})
	to, err := env.open(ctx, cfg.Out)
	if err != nil {
		return nil, err
	}
	s := &Sender{log: cfg.Logger, provider: sdk.NewTracerProvider(sdk.WithBatcher(to), sdk.WithResource(describe(ctx, cfg.Version)))}
	cfg.Logger.Info("traces are sent", "exporter", string(env.exporter))
	return s, nil
}

// open creates the exporter. It does not connect yet.
func (e environment) open(ctx context.Context, out io.Writer) (sdk.SpanExporter, error) {
	switch {
	case e.exporter == exportConsole:
		var options []stdouttrace.Option
		if out != nil {
			options = append(options, stdouttrace.WithWriter(out))
		}
		return stdouttrace.New(options...)
	case e.protocol == protocolGRPC:
		return otlptracegrpc.New(ctx)
	}
	return otlptracehttp.New(ctx)
}

// describe describes the process that the spans belong to. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take
// precedence.
func describe(ctx context.Context, version string) *resource.Resource {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	own := resource.NewSchemaless(
		semconv.ServiceName("carillon"), semconv.ServiceVersion(version),
		semconv.ServiceInstanceID(fmt.Sprintf("%s/%d", host, os.Getpid())),
	)
	given, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		otel.Handle(err)
	}
	merged, err := resource.Merge(own, given)
	if err != nil {
		return own
	}
	return merged
}

// Tracer begins the spans that are sent; nil, which traces nothing, of a nil sender.
func (s *Sender) Tracer() *tracing.Tracer {
	if s == nil {
		return nil
	}
	return tracing.New(s.provider)
}

// Close sends the remaining spans, for a few seconds at most, even if ctx is done.
func (s *Sender) Close(ctx context.Context) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushPatience)
	defer cancel()
	if err := s.provider.Shutdown(ctx); err != nil {
		s.log.Warn("the last spans were not sent", "err", err)
	}
}

// complainEvery is the interval of messages about unsent spans.
const complainEvery = time.Minute

// complaints logs the SDK's errors: the first immediately, later ones once a minute.
type complaints struct {
	log *slog.Logger

	mu      sync.Mutex
	last    time.Time
	omitted int
}

// Handle implements [otel.ErrorHandler].
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	now := time.Now()
	if !c.last.IsZero() && now.Sub(c.last) < complainEvery {
		c.omitted++
		c.mu.Unlock()
		return
	}
	others := c.omitted
	c.last, c.omitted = now, 0
	c.mu.Unlock()
	c.log.Warn("traces are not sent", "others", others, "err", err)
}

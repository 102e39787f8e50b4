package tracing_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/carillon-sched/carillon/cmd/carillon/tracing"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// setting sets the variables of a text, and no others of OpenTelemetry.
func setting(t *testing.T, text string) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, value) // to have it back
			must.Do(t, os.Unsetenv(name))
		}
	}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv("OTEL_"+name, value)
	}
}

// TestOff: nothing is sent unless the environment says where to.
func TestOff(t *testing.T) {
	for _, text := range []string{
		"",
		"SERVICE_NAME=x TRACES_SAMPLER=always_on EXPORTER_OTLP_PROTOCOL=grpc",
		"TRACES_EXPORTER=none EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1",
		"SDK_DISABLED=true EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1",
		"SDK_DISABLED=TRUE TRACES_EXPORTER=otlp",
	} {
		t.Run(text, func(t *testing.T) {
			setting(t, text)
			s, err := tracing.Start(t.Context(), tracing.Config{Version: "test"})
			if s != nil || err != nil || s.Tracer() != nil {
				t.Errorf("%v, %v", s, err)
			}
			s.Close(t.Context())
		})
	}
}

// TestOn: any of these has spans sent, or tried to.
func TestOn(t *testing.T) {
	for _, text := range []string{
		"EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1/v1/traces", "TRACES_EXPORTER=otlp",
		"TRACES_EXPORTER=console", "TRACES_EXPORTER=otlp EXPORTER_OTLP_PROTOCOL=grpc", "TRACES_EXPORTER=otlp TRACES_SAMPLER=traceidratio TRACES_SAMPLER_ARG=0.5",
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_HEADERS=a=b,c=d%20e SDK_DISABLED=false",
	} {
		t.Run(text, func(t *testing.T) {
			setting(t, text)
			s, err := tracing.Start(t.Context(), tracing.Config{Version: "test"})
			if err != nil || s.Tracer() == nil {
				t.Fatal(err)
			}
			s.Close(t.Context())
		})
	}
}

// TestWrongEnvironment: what cannot be meant is named, and what may be secret is not shown.
func TestWrongEnvironment(t *testing.T) {
	for text, want := range map[string]string{
		"TRACES_EXPORTER=zipkin":                                                `OTEL_TRACES_EXPORTER: "zipkin" is not one of otlp, console, none`,
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_PROTOCOL=http/json":                 `OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" is not one of http/protobuf, grpc`,
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_TRACES_PROTOCOL=x":                  `OTEL_EXPORTER_OTLP_PROTOCOL: "x" is not`,
		"EXPORTER_OTLP_ENDPOINT=s3cret:4318":                                    "OTEL_EXPORTER_OTLP_ENDPOINT: it is not a URL",
		"EXPORTER_OTLP_TRACES_ENDPOINT=ftp://s3cret":                            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: it is not a URL",
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_HEADERS=a=b,s3cret":                 "OTEL_EXPORTER_OTLP_HEADERS: the pair at 2 is not name=value",
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_TRACES_HEADERS=a=s3cret%zz":         "OTEL_EXPORTER_OTLP_TRACES_HEADERS: the pair at 1 is not",
		"TRACES_EXPORTER=otlp TRACES_SAMPLER=often":                             `OTEL_TRACES_SAMPLER: "often" is not one of always_on`,
		"TRACES_EXPORTER=otlp TRACES_SAMPLER=traceidratio TRACES_SAMPLER_ARG=2": `OTEL_TRACES_SAMPLER_ARG: "2" is not a number from 0 to 1`,
		"TRACES_EXPORTER=otlp BSP_MAX_QUEUE_SIZE=-5":                            `OTEL_BSP_MAX_QUEUE_SIZE: "-5" is not a whole number from 1 to 1000000`,
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_TIMEOUT=abc":                        `OTEL_EXPORTER_OTLP_TIMEOUT: "abc" is not a whole number from 1 to 86400000`,
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_CERTIFICATE=missing.pem":            "OTEL_EXPORTER_OTLP_CERTIFICATE: open missing.pem: ",
		"TRACES_EXPORTER=otlp EXPORTER_OTLP_TRACES_CLIENT_KEY=log.go":           "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: log.go has no PEM",
		"TRACES_EXPORTER=console BSP_SCHEDULE_DELAY=5s":                         `OTEL_BSP_SCHEDULE_DELAY: "5s" is not a whole number`,
	} {
		t.Run(text, func(t *testing.T) {
			setting(t, text)
			_, err := tracing.Start(t.Context(), tracing.Config{Version: "test"})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, and not %s", err, want)
			}
		})
	}
}

// TestConsole writes a span as JSON.
func TestConsole(t *testing.T) {
	setting(t, "TRACES_EXPORTER=console SERVICE_NAME=mine RESOURCE_ATTRIBUTES=team=a")
	var out bytes.Buffer
	s := must.Get(tracing.Start(t.Context(), tracing.Config{Version: "test", Out: &out}))(t)
	_, span := s.Tracer().Request(t.Context(), "GET", nil)
	span.Answered("GET /jobs", "/jobs", 200)
	s.Close(t.Context())
	for _, want := range []string{`"Name":"GET /jobs"`, `"mine"`, `"team"`, `"service.version"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}

// TestCollectorAway: what cannot be sent is dropped, and told now and then; a stop does not wait for long.
func TestCollectorAway(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refusing.Close)
	setting(t, "BSP_SCHEDULE_DELAY=1 EXPORTER_OTLP_ENDPOINT="+refusing.URL)
	var log logtest.Log
	s := must.Get(tracing.Start(t.Context(), tracing.Config{Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	for late := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), "traces are not sent"); {
		_, span := s.Tracer().Request(t.Context(), "GET", nil)
		span.Answered("GET /jobs", "/jobs", 200)
		if time.Now().After(late) {
			t.Fatal(log.String())
		}
	}
	s.Close(t.Context())
	if n := strings.Count(log.String(), "traces are not sent"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
}

// TestComplaints tells the first one, and of those that follow one a minute.
func TestComplaints(t *testing.T) {
	setting(t, "TRACES_EXPORTER=console")
	bubble.Test(t, func(t *testing.T) {
		var log logtest.Log
		s := must.Get(tracing.Start(t.Context(), tracing.Config{Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		defer s.Close(t.Context())
		for range 90 {
			otel.Handle(http.ErrServerClosed)
			time.Sleep(time.Second)
		}
		if n := strings.Count(log.String(), "traces are not sent"); n != 2 || !strings.Contains(log.String(), "others=59") {
			t.Errorf("told %d times:\n%s", n, log.String())
		}
	})
}

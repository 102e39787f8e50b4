package tracing

import (
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The variables that OpenTelemetry has for traces, as far as something is decided by
// them here. The SDK reads these and the others itself.
const (
	varDisabled   = "OTEL_SDK_DISABLED"
	varExporter   = "OTEL_TRACES_EXPORTER"
	varSampler    = "OTEL_TRACES_SAMPLER"
	varSamplerArg = "OTEL_TRACES_SAMPLER_ARG"

	varEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	varProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	varHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"

	varTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	varTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	varTracesHeaders  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

// exporter is where spans go.
type exporter string

const (
	exportNothing exporter = "none"
	exportOTLP    exporter = "otlp"
	exportConsole exporter = "console"
)

// The protocols of OTLP that are spoken.
const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"
)

// samplers are those that the SDK knows.
var samplers = []string{
	"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

// environment holds the parsed variables.
type environment struct {
	exporter exporter
	protocol string // of OTLP
}

// read reads the variables. Without a destination for spans it does nothing. It refuses values that the SDK
// would misunderstand, because the SDK's complaints quote values that may be secret.
func read(get func(string) string) (environment, error) {
	text := func(name string) string { return strings.TrimSpace(get(name)) }
	e := environment{exporter: exporter(text(varExporter)), protocol: cmp.Or(text(varTracesProtocol), text(varProtocol), protocolHTTP)}
	if strings.EqualFold(text(varDisabled), "true") || e.exporter == exportNothing {
		return environment{exporter: exportNothing}, nil
	}
	if e.exporter == "" {
		if text(varEndpoint) == "" && text(varTracesEndpoint) == "" {
			return environment{exporter: exportNothing}, nil
		}
		e.exporter = exportOTLP
	}
	if e.exporter != exportOTLP && e.exporter != exportConsole {
		return e, fmt.Errorf("%s: %q is not one of otlp, console, none", varExporter, e.exporter)
	}
	err := errors.Join(checkSampler(text(varSampler), text(varSamplerArg)), checkNumbers(text))
	if err != nil || e.exporter == exportConsole {
		return e, err
	}
	if e.protocol != protocolHTTP && e.protocol != protocolGRPC {
		return e, fmt.Errorf("%s: %q is not one of %s, %s", varProtocol, e.protocol, protocolHTTP, protocolGRPC)
	}
	for _, name := range []string{varEndpoint, varTracesEndpoint} {
		if u, err := url.Parse(text(name)); err != nil || text(name) != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			return e, fmt.Errorf("%s: it is not a URL such as http://localhost:4318", name)
		}
	}
	for _, name := range []string{varHeaders, varTracesHeaders} {
		if err := checkHeaders(name, text(name)); err != nil {
			return e, err
		}
	}
	return e, checkFiles(text)
}

// checkSampler makes sure that the SDK knows a sampler. "" is its default.
func checkSampler(name, arg string) error {
	if name == "" {
		return nil
	}
	if !slices.Contains(samplers, strings.ToLower(name)) {
		return fmt.Errorf("%s: %q is not one of %s", varSampler, name, strings.Join(samplers, ", "))
	}
	if !strings.HasSuffix(strings.ToLower(name), "traceidratio") || arg == "" {
		return nil
	}
	if ratio, err := strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("%s: %q is not a number from 0 to 1", varSamplerArg, arg)
	}
	return nil
}

// numbers lists the numeric variables and their maxima: spans in the queue, and milliseconds.
var numbers = []struct {
	name string
	most int
}{
	{"OTEL_BSP_MAX_QUEUE_SIZE", 1_000_000},
	{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1_000_000},
	{"OTEL_BSP_SCHEDULE_DELAY", 86_400_000},
	{"OTEL_BSP_EXPORT_TIMEOUT", 86_400_000},
	{"OTEL_EXPORTER_OTLP_TIMEOUT", 86_400_000},
	{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", 86_400_000},
}

// checkNumbers limits the numbers, because the SDK allocates a queue of any requested length.
func checkNumbers(text func(string) string) error {
	for _, v := range numbers {
		value := text(v.name)
		if n, err := strconv.Atoi(value); value != "" && (err != nil || n < 1 || n > v.most) {
			return fmt.Errorf("%s: %q is not a whole number from 1 to %d", v.name, value, v.most)
		}
	}
	return nil
}

// files are the variables that name files of PEM.
var files = []string{
	"OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_CLIENT_KEY", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
}

// checkFiles validates the files, because the SDK ignores missing ones.
func checkFiles(text func(string) string) error {
	for _, name := range files {
		path := text(name)
		if path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if block, _ := pem.Decode(data); block == nil {
			return fmt.Errorf("%s: %s has no PEM, which begins with -----BEGIN", name, path)
		}
	}
	return nil
}

// checkHeaders makes sure that headers are name=value, separated by commas. No value
// is shown.
func checkHeaders(name, text string) error {
	for i, pair := range strings.Split(text, ",") {
		if text == "" {
			return nil
		}
		key, value, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !ok || err != nil || strings.TrimSpace(key) == "" {
			return fmt.Errorf("%s: the pair at %d is not name=value, with the value percent-encoded", name, i+1)
		}
	}
	return nil
}

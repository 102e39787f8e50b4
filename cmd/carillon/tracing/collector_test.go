package tracing_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected takes spans in over OTLP, as a collector does: it decodes what comes over the wire.
type collected struct {
	url string

	mu    sync.Mutex
	spans []span
	raw   []string // the bodies of all requests
	news  chan struct{}
}

// span is one as it came, and of which service.
type span struct {
	*traces.Span

	service string
}

func collect(t *testing.T) *collected {
	t.Helper()
	c := &collected{news: make(chan struct{}, 1)}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.url = s.URL
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	return c
}

// ServeHTTP takes a batch of spans.
func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, string(body))
	for _, resource := range request.GetResourceSpans() {
		service := value(resource.GetResource().GetAttributes(), "service.name")
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, span{s, service})
			}
		}
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// all are the spans that have come, by the time at which they began.
func (c *collected) all() []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.spans)
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.GetStartTimeUnixNano(), b.GetStartTimeUnixNano()) })
	return all
}

// wait waits until there are so many spans of a name, and returns them.
func (c *collected) wait(t *testing.T, name string, n int) []span {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		found := slices.DeleteFunc(c.all(), func(s span) bool { return s.GetName() != name })
		if len(found) >= n {
			return found
		}
		select {
		case <-c.news:
		case <-late:
			t.Fatalf("%d spans of the name %q, not %d, among\n%s", len(found), name, n, tree(c.all()))
		}
	}
}

// one waits for the only span of a name.
func (c *collected) one(t *testing.T, name string) span {
	t.Helper()
	found := c.wait(t, name, 1)
	if len(found) > 1 {
		t.Fatalf("%d spans of the name %q:\n%s", len(found), name, tree(found))
	}
	return found[0]
}

// parent is the traceparent of a span that was sampled.
func (s span) parent() string {
	return "00-" + hex.EncodeToString(s.GetTraceId()) + "-" + hex.EncodeToString(s.GetSpanId()) + "-01"
}

// within reports whether a span is right below another one.
func (s span) within(other span) bool {
	return bytes.Equal(s.GetTraceId(), other.GetTraceId()) && bytes.Equal(s.GetParentSpanId(), other.GetSpanId())
}

// linksTo reports whether the only link of a span is to another one.
func (s span) linksTo(other span) bool {
	links := s.GetLinks()
	return len(links) == 1 && bytes.Equal(links[0].GetTraceId(), other.GetTraceId()) && bytes.Equal(links[0].GetSpanId(), other.GetSpanId())
}

func (s span) value(key string) string { return value(s.GetAttributes(), key) }

// value is that of an attribute, "" for none.
func value(attributes []*common.KeyValue, key string) string {
	for _, a := range attributes {
		if a.GetKey() != key {
			continue
		}
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			return v.StringValue
		case *common.AnyValue_IntValue:
			return strconv.FormatInt(v.IntValue, 10)
		case *common.AnyValue_DoubleValue:
			return fmt.Sprint(v.DoubleValue)
		}
	}
	return ""
}

// tree draws spans, below each other as they are, and the names of what they link to.
func tree(spans []span) string {
	names, below := map[string]string{}, map[string][]span{}
	for _, s := range spans {
		names[string(s.GetSpanId())] = s.GetName()
	}
	for _, s := range spans {
		parent := string(s.GetParentSpanId())
		if names[parent] == "" {
			parent = "" // it is somebody else's
		}
		below[parent] = append(below[parent], s)
	}
	var b strings.Builder
	var draw func(s span, branch, indent string)
	draw = func(s span, branch, indent string) {
		fmt.Fprintf(&b, "%-26s%-10s%s\n", branch+s.GetName(), kindOf(s), strings.TrimRight(said(s, names), " "))
		children := below[string(s.GetSpanId())]
		for i, child := range children {
			if i < len(children)-1 {
				draw(child, indent+"├─ ", indent+"│  ")
			} else {
				draw(child, indent+"└─ ", indent+"   ")
			}
		}
	}
	for _, root := range below[""] {
		draw(root, "", "")
	}
	return b.String()
}

func kindOf(s span) string {
	return strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"))
}

// said is what is told of a span beside its name.
func said(s span, names map[string]string) string {
	parts := []string{fmt.Sprintf("%-8s", s.service)}
	if parent := string(s.GetParentSpanId()); parent != "" && names[parent] == "" {
		parts = append(parts, "in a trace from outside")
	}
	for _, link := range s.GetLinks() {
		parts = append(parts, "link to "+names[string(link.GetSpanId())])
	}
	if s.GetStatus().GetCode() == traces.Status_STATUS_CODE_ERROR {
		parts = append(parts, "error "+s.value("error.type"))
	}
	return strings.Join(parts, " ")
}

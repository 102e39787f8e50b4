package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// apis counts API requests and published specs.
type apis struct {
	requests *prometheus.HistogramVec
	specs    *prometheus.CounterVec
}

func newAPIs() apis {
	return apis{
		requests: prometheus.NewHistogramVec(histogram(
			"carillon_api_request_duration_seconds", "How long requests to the APIs took, but for live tails.", requestBuckets,
		), []string{"api", "operation", "status"}),
		specs: counter("carillon_specs_total", "Published specs that were taken in.", "verb", "result"),
	}
}

func (a *apis) collectors() []prometheus.Collector {
	return []prometheus.Collector{a.requests, a.specs}
}

// Requests returns an observer for the requests to an API. It takes the operation (a small fixed set), the HTTP status
// and the duration.
func (a *apis) Requests(api string) func(operation string, status int, took time.Duration) {
	return func(operation string, status int, took time.Duration) {
		a.requests.WithLabelValues(api, operation, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
	}
}

// Spec counts a published spec. verb and result are from small fixed sets.
func (a *apis) Spec(verb, result string) { a.specs.WithLabelValues(verb, result).Inc() }

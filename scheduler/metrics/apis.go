package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// apis count what was asked for.
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

// Requests returns what is told of the requests to an API: the operation, one of few, the status as in HTTP, and how long it took.
func (a *apis) Requests(api string) func(operation string, status int, took time.Duration) {
	return func(operation string, status int, took time.Duration) {
		a.requests.WithLabelValues(api, operation, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
	}
}

// Spec counts a published spec. verb and result are one of few.
func (a *apis) Spec(verb, result string) { a.specs.WithLabelValues(verb, result).Inc() }

package rest

import "net/http"

// processStatus is the status of the process.
type processStatus struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
	Reason  string `json:"reason,omitempty"`  // why the process is degraded
	Indexed bool   `json:"indexed,omitempty"` // the search index of jobs is complete
}

func (a *server) health(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, processStatus{Status: "ok", Version: a.Version})
}

func (a *server) readiness(w http.ResponseWriter, r *http.Request) error {
	if err := a.Ready(r.Context()); err != nil {
		return fault{http.StatusServiceUnavailable, "NotReady", err.Error()}
	}
	told := processStatus{Status: "ready", Reason: a.Degraded(), Indexed: a.Service.Indexed()}
	if told.Reason != "" {
		told.Status = "degraded"
	}
	return answer(w, http.StatusOK, told)
}

// showMetrics answers a scrape, if metrics are enabled.
func (a *server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	if a.Metrics == nil {
		return fault{http.StatusNotFound, "UnknownRoute", "this process has no metrics"}
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}

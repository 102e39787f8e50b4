package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An observer is a service of the profile observe, and what shows that it does its work.
type observer struct {
	service string
	image   base
	check   func(ctx context.Context) error
}

// observers are the services of the profile observe.
var observers = []observer{
	{"prometheus", base{file: composeFile, pattern: `(?m)^ *image: (prom/prometheus:\S+)$`, fill: fillPrometheus, changes: []string{
		"USER 65534:65534", "WORKDIR /prometheus", `ENTRYPOINT ["/bin/prometheus"]`,
	}}, scrapes},
	{"jaeger", base{file: composeFile, pattern: `(?m)^ *image: (jaegertracing/jaeger:\S+)$`}, traces},
	{"grafana", base{file: composeFile, pattern: `(?m)^ *image: (grafana/grafana:\S+)$`}, shows},
}

// Where the observers answer, see command.
const (
	prometheus = "http://127.0.0.1:" + prometheusPort
	jaeger     = "http://127.0.0.1:" + jaegerPort
	grafana    = "http://127.0.0.1:" + grafanaPort
)

// findObservers decides which observers run. It skips, with a message, those without an image or a stand-in.
func (r *run) findObservers(ctx context.Context) error {
	for _, o := range observers {
		image, err := named(o.image.file, o.image.pattern)
		if err != nil {
			return err
		}
		if !r.pull && !present(ctx, image) {
			if why := o.image.lacks(); why != "" {
				fmt.Fprintf(r.out, "NOT RUN: %s: %s is not here, and %s\n", o.service, image, why)
				r.figures.NotRun = append(r.figures.NotRun, o.service)
				continue
			}
			if err := r.standInFor(ctx, o.image); err != nil {
				return err
			}
		}
		r.observers = append(r.observers, o)
	}
	return nil
}

// lacks explains why no stand-in is possible, or returns "".
func (b base) lacks() string {
	if b.fill == nil {
		return "there is no stand-in for it"
	}
	if _, err := exec.LookPath("prometheus"); err != nil {
		return "its stand-in needs Debian's package prometheus"
	}
	return ""
}

// fillPrometheus puts this machine's Prometheus there, with its libraries.
func fillPrometheus(ctx context.Context, root string) error {
	script := `program=$(command -v prometheus) && cp "$program" "$0/bin/prometheus" && mkdir -m 1777 "$0/prometheus" &&
		{ ldd "$program" || true; } | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$0${library%/*}" && cp -L "$library" "$0$library" || exit
		done`
	_, err := quiet(ctx, "sh", "-c", script, root)
	return err
}

// observe checks that each observer sees the stack's activity.
func (r *run) observe(ctx context.Context) error {
	var problems []error
	for _, o := range r.observers {
		r.say("ask " + o.service)
		if err := eventually(ctx, o.check); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", o.service, err))
		}
	}
	return errors.Join(problems...)
}

// eventually repeats a check until it succeeds, or returns its last error.
func eventually(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error // before the time was up, which says nothing of the cause
	for tick := time.Tick(time.Second); ; {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return cmp.Or(last, err)
		}
		last = err
		select {
		case <-tick:
		case <-ctx.Done():
			return last
		}
	}
}

// scrapes checks that Prometheus scrapes both schedulers, counts their activity, has the alerts, and fires none.
func scrapes(ctx context.Context) error {
	for query, want := range map[string]float64{
		`count(up{job="carillon"} == 1)`:                                                 2,
		`count(carillon_build_info{job="carillon"})`:                                     2,
		`count(sum by (action_type) (carillon_attempts_total{outcome="completed"}) > 0)`: float64(len(jobs)),
	} {
		got, err := ask(ctx, query)
		if err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		if got != want {
			return fmt.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, State, LastError string }
			}
		}
	}
	if err := get(ctx, prometheus+"/api/v1/rules", &rules); err != nil {
		return err
	}
	if len(rules.Data.Groups) != 1 || len(rules.Data.Groups[0].Rules) == 0 {
		return errors.New("it has no alerts")
	}
	for _, rule := range rules.Data.Groups[0].Rules {
		if rule.Health != "ok" || rule.State == "firing" {
			return fmt.Errorf("alert %s: %s, %s %s", rule.Name, rule.Health, rule.State, rule.LastError)
		}
	}
	return nil
}

// ask returns the single value of a Prometheus query, or 0.
func ask(ctx context.Context, query string) (float64, error) {
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := get(ctx, prometheus+"/api/v1/query?query="+url.QueryEscape(query), &answer); err != nil {
		return 0, err
	}
	if len(answer.Data.Result) == 0 {
		return 0, nil
	}
	return strconv.ParseFloat(fmt.Sprint(answer.Data.Result[0].Value[1]), 64)
}

// traces makes sure that Jaeger has traces of a scheduler.
func traces(ctx context.Context) error {
	var services struct{ Data []string }
	if err := get(ctx, jaeger+"/api/services", &services); err != nil {
		return err
	}
	i := slices.IndexFunc(services.Data, func(name string) bool { return strings.HasPrefix(name, "carillon") })
	if i < 0 {
		return fmt.Errorf("no traces of carillon, only of %q", services.Data)
	}
	var found struct {
		Data []struct {
			Spans []struct{ OperationName string }
		}
	}
	if err := get(ctx, jaeger+"/api/traces?service="+url.QueryEscape(services.Data[i]), &found); err != nil {
		return err
	}
	if len(found.Data) == 0 || len(found.Data[0].Spans) == 0 {
		return errors.New("no spans of " + services.Data[i])
	}
	return nil
}

// shows checks that Grafana shows the dashboard and reaches Prometheus, without a login.
func shows(ctx context.Context) error {
	var found struct{ Dashboard struct{ Title string } }
	if err := get(ctx, grafana+"/api/dashboards/uid/carillon", &found); err != nil {
		return err
	}
	if found.Dashboard.Title != "Carillon" {
		return fmt.Errorf("the dashboard is called %q", found.Dashboard.Title)
	}
	var health struct{ Status string }
	if err := get(ctx, grafana+"/api/datasources/uid/prometheus/health", &health); err != nil {
		return err
	}
	if !strings.EqualFold(health.Status, "ok") {
		return fmt.Errorf("its data source Prometheus: %q", health.Status)
	}
	return nil
}

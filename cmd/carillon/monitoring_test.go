package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v4"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
)

// publish publishes a message on the NATS server: publish SUBJECT [BODY].
func publish(ts *testscript.TestScript, _ bool, args []string) {
	nc, err := nats.Connect(ts.Getenv("NATS"))
	ts.Check(err)
	defer nc.Close()
	ts.Check(nc.Publish(args[0], []byte(strings.Join(args[1:], " "))))
	ts.Check(nc.Flush())
}

// exposition writes the body of the last answer to a file: exposition FILE.
func exposition(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(scraped(ts)), 0o600))
}

// scraped is the body of the last answer.
func scraped(ts *testscript.TestScript) string {
	_, body, _ := strings.Cut(ts.ReadFile("stdout"), "\n")
	return body
}

// dashboard writes a rule for each query of the dashboard to a file, for promtool: dashboard FILE.
func dashboard(ts *testscript.TestScript, _ bool, args []string) {
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	for i, query := range dashboardQueries(ts) {
		rules = append(rules, rule{fmt.Sprintf("query%d", i), query})
	}
	data, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// monitored checks that the page lists just the metrics of the last answer, and has a section for each alert; and that
// all that alerts and dashboard ask for is among them.
func monitored(ts *testscript.TestScript, _ bool, _ []string) {
	told := readExposition(ts)
	var own []string
	for name, m := range told {
		if strings.HasPrefix(name, "carillon_") {
			own = append(own, m.String())
		}
	}
	slices.Sort(own)
	metrics, err := docs.Find("metrics")
	ts.Check(err)
	page, err := docs.Find("monitor")
	ts.Check(err)
	listed := listedMetrics(metrics.Text)
	if diff := cmp.Diff(listed, own); diff != "" {
		ts.Fatalf("the tables of metrics.md need a row for each metric (-page +process):\n%s", diff)
	}
	alerts := readAlerts(ts)
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(page.Text, -1) {
		sections = append(sections, m[1])
	}
	queries := dashboardQueries(ts)
	var names []string
	for _, a := range alerts {
		names = append(names, a.Alert)
		if want := "/" + pageFile("monitor") + "#" + strings.ToLower(a.Alert); !strings.HasSuffix(a.Annotations["runbook_url"], want) {
			ts.Fatalf("the runbook of %s is %s, want …%s", a.Alert, a.Annotations["runbook_url"], want)
		}
		queries = append(queries, a.Expr)
	}
	if diff := cmp.Diff(sections, names); diff != "" {
		ts.Fatalf("the page has sections for others than there are (-page +alerts.yaml):\n%s", diff)
	}
	for _, query := range queries {
		if problem := unknownIn(query, told); problem != "" {
			ts.Fatalf("%s: %s", query, problem)
		}
	}
}

// alert is an alerting rule.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Annotations map[string]string `yaml:"annotations"`
}

func readAlerts(ts *testscript.TestScript) []alert {
	var file struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(observability(ts, "alerts.yaml"))), &file))
	var all []alert
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// dashboardQueries are what the panels of the dashboard ask Prometheus for, with Grafana's variables filled in.
func dashboardQueries(ts *testscript.TestScript) []string {
	var file struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(observability(ts, "dashboard.json"))), &file))
	var queries []string
	for _, p := range file.Panels {
		for _, q := range p.Targets {
			queries = append(queries, strings.NewReplacer("$__rate_interval", "5m", "$job", "carillon").Replace(q.Expr))
		}
	}
	if len(queries) < 20 {
		ts.Fatalf("the dashboard has %d queries", len(queries))
	}
	return queries
}

func observability(ts *testscript.TestScript, file string) string {
	return ts.Getenv("EXAMPLES") + "/observability/" + file
}

// exposed is a metric that a process tells.
type exposed struct {
	name, kind string
	labels     map[string]map[string]bool // the values that each has
}

// String is how the page has it: "gauge carillon_circuits{state}".
func (e exposed) String() string {
	if len(e.labels) == 0 {
		return e.kind + " " + e.name
	}
	return e.kind + " " + e.name + "{" + strings.Join(slices.Sorted(maps.Keys(e.labels)), ",") + "}"
}

func readExposition(ts *testscript.TestScript) map[string]exposed {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(scraped(ts)))
	ts.Check(err)
	told := map[string]exposed{"up": {"up", "gauge", nil}} // of Prometheus itself
	for name, f := range families {
		e := exposed{name, strings.ToLower(f.GetType().String()), map[string]map[string]bool{}}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if e.labels[l.GetName()] == nil {
					e.labels[l.GetName()] = map[string]bool{}
				}
				e.labels[l.GetName()][l.GetValue()] = true
			}
		}
		told[name] = e
	}
	return told
}

// listedMetrics are those of the tables of a page, each with the kind that stands before its table.
func listedMetrics(page string) []string {
	kinds := regexp.MustCompile(`^(Histogram|Counter|Gauge)s\b`)
	row := regexp.MustCompile("^\\| `(carillon_[a-z_]+(?:\\{[a-z_,]+\\})?)` ")
	var listed []string
	kind := ""
	for line := range strings.Lines(page) {
		if m := kinds.FindStringSubmatch(line); m != nil {
			kind = strings.ToLower(m[1])
		}
		if m := row.FindStringSubmatch(line); m != nil {
			listed = append(listed, kind+" "+m[1])
		}
	}
	slices.Sort(listed)
	return listed
}

// The parts of a query, as far as the examples go.
var (
	grouping = regexp.MustCompile(`\b(?:by|without)\s*\(([^)]*)\)`)
	matchers = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`([a-z_]+)(=~?)"([^"]*)"`)
	span     = regexp.MustCompile(`\[[^\]]*\]|\boffset \w+|\b(?:or|unless)\b`)
	name     = regexp.MustCompile(`\b([a-z_]+)\b(\s*\()?`)
)

// unknownIn says which metric, label or value of a query no process tells; "" if there is none.
func unknownIn(query string, told map[string]exposed) string {
	rest := grouping.ReplaceAllString(span.ReplaceAllString(query, ""), "")
	asked := map[string]exposed{}
	problem := ""
	take := func(name string) exposed {
		m, ok := find(told, name)
		if !ok {
			problem = "there is no " + name
		}
		asked[name] = m
		return m
	}
	for _, found := range matchers.FindAllStringSubmatch(rest, -1) {
		m := take(found[1])
		for _, match := range matcher.FindAllStringSubmatch(found[2], -1) {
			for value := range strings.SplitSeq(match[3], "|") {
				if match[1] == "status" && value == "5xx" {
					value = "4xx" // nothing is wrong with the process
				}
				if match[1] != "job" && !m.labels[match[1]][value] {
					problem = fmt.Sprintf("%s has no %s=%q", m.name, match[1], value)
				}
			}
		}
	}
	for _, found := range name.FindAllStringSubmatch(matchers.ReplaceAllString(rest, ""), -1) {
		if found[2] == "" { // no function
			take(found[1])
		}
	}
	for _, found := range grouping.FindAllStringSubmatch(query, -1) {
		for label := range strings.SplitSeq(found[1], ",") {
			label = strings.TrimSpace(label)
			known := label == "le" || label == "instance"
			for _, m := range asked {
				known = known || m.labels[label] != nil
			}
			if !known {
				problem = "no metric of it has the label " + label
			}
		}
	}
	if len(asked) == 0 {
		problem = "asks for nothing"
	}
	return problem
}

// find returns the metric of a name, which may be one of the series of a histogram.
func find(told map[string]exposed, name string) (exposed, bool) {
	if m, ok := told[name]; ok {
		return m, true
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if m, ok := told[strings.TrimSuffix(name, suffix)]; ok && m.kind == "histogram" {
			return m, true
		}
	}
	return exposed{}, false
}

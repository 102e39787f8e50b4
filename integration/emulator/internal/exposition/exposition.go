// Package exposition writes metrics as Prometheus reads them: its text format, version 0.0.4. It knows gauges and counters, which
// is what the emulators have.
package exposition

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// The kinds of metrics.
const (
	Gauge   = "gauge"
	Counter = "counter"
)

// A Metric is one name with its values.
type Metric struct {
	Name    string
	Kind    string // Gauge or Counter
	Help    string // one line
	Samples []Sample
}

// A Sample is a value. Its labels are names, each with its value behind it.
type Sample struct {
	Labels []string
	Value  float64
}

// Add adds a value under labels.
func (m *Metric) Add(value float64, labels ...string) {
	m.Samples = append(m.Samples, Sample{labels, value})
}

var (
	labelEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	helpEscaper  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

// Write answers with metrics. One without values is left out.
func Write(w http.ResponseWriter, metrics ...Metric) {
	var b bytes.Buffer
	for _, m := range metrics {
		if len(m.Samples) == 0 {
			continue
		}
		b.WriteString("# HELP " + m.Name + " " + helpEscaper.Replace(m.Help) + "\n# TYPE " + m.Name + " " + m.Kind + "\n")
		for _, s := range m.Samples {
			b.WriteString(m.Name)
			for i := 0; i+1 < len(s.Labels); i += 2 {
				separator := byte(',')
				if i == 0 {
					separator = '{'
				}
				b.WriteByte(separator)
				b.WriteString(s.Labels[i] + `="` + labelEscaper.Replace(s.Labels[i+1]) + `"`)
			}
			if len(s.Labels) > 1 {
				b.WriteByte('}')
			}
			b.WriteString(" " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n")
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the client may be gone
}

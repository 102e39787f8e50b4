package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// figure is a measured value. The name ends with the unit; [glossary] explains
// it.
type figure struct {
	name  string
	value float64
}

// figures keep their order when they are printed.
type figures []figure

// find returns the value of a figure, and whether it is there.
func (fs figures) find(name string) (float64, bool) {
	for _, f := range fs {
		if f.name == name {
			return f.value, true
		}
	}
	return 0, false
}

// MarshalJSON writes an object with the figures in their order.
func (fs figures) MarshalJSON() ([]byte, error) { //nolint:unparam // it is json.Marshaler's
	members := make([]string, len(fs))
	for i, f := range fs {
		members[i] = strconv.Quote(f.name) + ":" + f.text() // names and numbers need no escapes
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// text is the value with four significant digits, and never fewer than its
// whole part has.
func (f figure) text() string {
	v := f.value
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	digits := 4 - int(math.Ceil(math.Log10(math.Max(math.Abs(v), 1e-9))))
	digits = min(max(digits, 0), 6)
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// part is the figures of one of the things that a run compares.
type part struct {
	name    string // such as carillon, or bare
	figures figures
}

// median returns the parts with the median of every figure over all runs.
func median(runs [][]part) []part {
	var out []part
	for _, p := range runs[0] {
		m := part{name: p.name}
		for _, f := range p.figures {
			m.figures = append(m.figures, figure{f.name, medianOf(runs, p.name, f.name)})
		}
		out = append(out, m)
	}
	return out
}

func medianOf(runs [][]part, partName, name string) float64 {
	var values []float64
	for _, parts := range runs {
		for _, p := range parts {
			if p.name != partName {
				continue
			}
			if v, ok := p.figures.find(name); ok {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 0 {
		return (values[mid-1] + values[mid]) / 2
	}
	return values[mid]
}

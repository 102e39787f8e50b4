package collections

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// faults are problems by field.
type faults map[string][]string

// fieldPaths maps paths to fields, the more specific paths first.
var fieldPaths = []struct{ path, field string }{
	{planPath, "plan"},
	{maxJobsPath, "maxJobs"},
	{oftenPath + "." + intervalName, "interval"},
	{oftenPath, "frequency"},
	{minRetryPath, "minRetry"},
	{targetsPath, "targets"},
}

// beside splits a problem into details that belong to fields and the rest.
func beside(c *frame.Call, p *frame.Problem) (faults, *frame.Problem) {
	by, rest := faults{}, *p
	rest.Details = nil
	for _, d := range p.Details {
		field, text := fieldOf(d.Path)
		if field == "" {
			rest.Details = append(rest.Details, d)
			continue
		}
		by[field] = append(by[field], strings.TrimSpace(text+" "+d.Message))
	}
	if len(by) > 0 {
		rest.Text = c.Say("collections.wrong")
	}
	return by, &rest
}

// fieldOf returns the field of a path and the remaining path; "" for a path without a field.
func fieldOf(path string) (field, within string) {
	path = strings.TrimPrefix(path, "properties.")
	for _, one := range fieldPaths {
		if rest, ok := strings.CutPrefix(path, one.path); ok && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			if rest = strings.TrimPrefix(rest, "."); rest != "" && one.field == "targets" {
				within = rest + ":"
			}
			return one.field, within
		}
	}
	return "", ""
}

// Wrong returns the problems of a field as one text; "" for none.
func (f faults) Wrong(field string) string { return strings.Join(f[field], "; ") }

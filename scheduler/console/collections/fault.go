package collections

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// faults are what is wrong, by the field that it stands beside.
type faults map[string][]string

// fieldPaths are the paths that the fields are for, the narrower ones first.
var fieldPaths = []struct{ path, field string }{
	{planPath, "plan"},
	{maxJobsPath, "maxJobs"},
	{oftenPath + "." + intervalName, "interval"},
	{oftenPath, "frequency"},
	{minRetryPath, "minRetry"},
	{targetsPath, "targets"},
}

// beside returns the details of a problem that belong to fields, and the problem without them.
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

// fieldOf is the field for a path, and what of the path is within that; "" for a path that has none.
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

// Wrong is what is wrong with the field, in one text; "" for nothing.
func (f faults) Wrong(field string) string { return strings.Join(f[field], "; ") }

package jobs

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
)

// exported are the columns of the jobs as a file.
var exported = strings.Fields(`name properties.state properties.pausedUntil properties.action.type properties.action.request.method
	properties.action.request.uri properties.status.schedule properties.status.nextExecutionTime properties.status.lastExecutionTime
	properties.status.executionCount properties.status.failureCount properties.status.faultedCount
	properties.labels properties.description`)

// export sends the jobs of a filter as a file, if the URL asks for one. They are in the order of their names, which runs do not
// change meanwhile.
func (r section) export(c *frame.Request, f filter) (sent bool, err error) {
	var q scheduler.JobQuery // of the first page, so that all have the same times
	return table.List[*v1.Job, string]{
		Name: "jobs", Fields: exported,
		Next: func(after string) (all []*v1.Job, next string, err error) {
			if after == "" {
				if q, err = r.query(c, &f); err != nil {
					return nil, "", err
				}
			}
			q.Order, q.Descending = scheduler.OrderByName, false
			page, err := r.service.Browse(c.Context(), q, after, false, v1.MaxPage)
			if err != nil {
				return nil, "", err
			}
			return page.Jobs, page.After, nil
		},
	}.Export(c)
}

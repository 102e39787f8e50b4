package live

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// exported are the columns of the history as a file.
var exported = strings.Fields(`name properties.status properties.reason properties.occurrence properties.actionName properties.retryCount
	properties.manual properties.dueTime properties.startTime properties.endTime properties.lateness properties.duration
	properties.actionType properties.target properties.statusCode properties.message properties.response`)

// export sends the records of a filter as a file, if the URL asks for one.
func (r section) export(c *frame.Request, f *records.Filter) (sent bool, err error) {
	var q control.HistoryQuery // of the first page, so that all have the same times
	return table.List[*scheduler.Record, uint64]{
		Name: "history", Fields: exported, JSON: v1.Record,
		Next: func(before uint64) (all []*scheduler.Record, next uint64, err error) {
			if before == 0 {
				if q, err = f.Query(c.Context(), r.service); err != nil {
					return nil, 0, err
				}
			}
			return r.service.History(c.Context(), q, v1.Page{Before: before})
		},
	}.Export(c)
}

package openapi

import "net/http"

// awxQuery are the parameters of a list of schedules (awx.ReadQuery).
var awxQuery = []Parameter{
	Query("page", AtLeast(1), "number of the page, from 1"),
	Query("page_size", AtLeast(1), "how many schedules a page has: 25, at most 200"),
	Query("order_by", Text, "id, name, created, modified or next_run, several with commas, with - for the reverse"),
	Query("id", AtLeast(1), "only the one of that id"),
	Query("name", Text, "only those of that name"),
	Query("name__icontains", Text, "only those whose name has that in it"),
	Query("search", Text, "only those whose name or description has that in it"),
	Query("enabled", Truth, "only those that are, or are not"),
	Query("unified_job_template", Text, "only those of that template, as collection/job"),
}

// awxOperations are those of the paths of AWX, by method and path without its last slash.
var awxOperations = map[string]Operation{
	"POST /api/v2/schedules/preview": {
		ID: "awxPreviewSchedule", Summary: "Tell the next ten instants of a recurrence", Path: "/api/v2/schedules/preview/",
		Body: "AWXPreviewRequest", Answers: ok("AWXPreviewed"), Faults: []int{http.StatusBadRequest},
	},
	"GET /api/v2/schedules/zoneinfo": {
		ID: "awxListZones", Summary: "List the time zones", Path: "/api/v2/schedules/zoneinfo/", Answers: ok("AwxZoneList"),
	},
	"GET /api/v2/schedules": {
		ID: "awxListSchedules", Summary: "List the schedules", Path: "/api/v2/schedules/", Options: awxQuery,
		Answers: ok("AWXScheduleList"),
		Faults:  []int{http.StatusBadRequest, http.StatusNotFound},
	},
	"POST /api/v2/schedules": {
		ID: "awxCreateSchedule", Summary: "Make a schedule of the template that the body names", Path: "/api/v2/schedules/",
		Body: "AWXScheduleRequest", Answers: map[int]string{http.StatusCreated: "AWXSchedule"},
		Faults: []int{http.StatusBadRequest, http.StatusConflict},
	},
	"GET /api/v2/schedules/{id}": {
		ID: "awxGetSchedule", Summary: "Show a schedule", Path: "/api/v2/schedules/{id}/", Answers: ok("AWXSchedule"), Faults: missing,
	},
	"PUT /api/v2/schedules/{id}": {
		ID: "awxPutSchedule", Summary: "Replace a schedule", Text: "It takes the action of its template afresh.",
		Path: "/api/v2/schedules/{id}/",
		Body: "AWXScheduleRequest", Answers: ok("AWXSchedule"), Faults: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	"PATCH /api/v2/schedules/{id}": {
		ID: "awxPatchSchedule", Summary: "Change a schedule", Path: "/api/v2/schedules/{id}/", Body: "AWXScheduleRequest",
		Answers: ok("AWXSchedule"),
		Faults:  []int{http.StatusBadRequest, http.StatusNotFound},
	},
	"DELETE /api/v2/schedules/{id}": {
		ID: "awxDeleteSchedule", Summary: "Delete a schedule", Path: "/api/v2/schedules/{id}/",
		Answers: map[int]string{http.StatusNoContent: ""},
		Faults:  []int{http.StatusBadRequest, http.StatusNotFound},
	},
	"GET /api/v2/{kind}/{template}/schedules": {
		ID: "awxListTemplateSchedules", Summary: "List the schedules of a template",
		Path:    "/api/v2/{kind}/{template}/schedules/",
		Options: awxQuery, Answers: ok("AWXScheduleList"), Faults: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	"POST /api/v2/{kind}/{template}/schedules": {
		ID: "awxCreateTemplateSchedule", Summary: "Make a schedule of a template", Path: "/api/v2/{kind}/{template}/schedules/",
		Body: "AWXScheduleRequest", Answers: map[int]string{http.StatusCreated: "AWXSchedule"},
		Faults: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
	},
}

package api

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/awx"
)

// Prefixes of the paths of Azure's resource manager: of a subscription, of a resource group and of its resources.
const (
	AzureSubscription = "/subscriptions/{s}"
	AzureGroup        = AzureSubscription + "/resourceGroups/{g}"
	AzureProvider     = "/providers/Microsoft.Scheduler"
)

// azureOperations are the requests with which clients of Azure's resource manager begin. In addition, all operations below
// /jobCollections exist below a resource group.
var azureOperations = []Operation{
	{
		ID: "armListCollections", Summary: "List the collections of a resource group", Style: Managed,
		Method: "GET", Path: "/jobCollections", Right: auth.ReadAny, Answer: listOf(shownCollection),
	},
	{
		ID: "armListSubscriptions", Summary: "List the subscriptions that have collections", Style: Manager,
		Method: "GET", Path: "/subscriptions", Right: auth.ReadAny, Answer: listOf(armResource),
	},
	{
		ID: "armGetSubscription", Summary: "Show a subscription", Text: "Every name is a subscription.", Style: Manager,
		Method: "GET", Path: AzureSubscription, Right: auth.Known, Answer: armResource,
	},
	{
		ID: "armListResourceGroups", Summary: "List the resource groups that have collections", Style: Manager,
		Method: "GET", Path: AzureSubscription + "/resourceGroups", Right: auth.ReadAny, Answer: listOf(armResource),
	},
	{
		ID: "armGetResourceGroup", Summary: "Show a resource group", Text: "Every name is a resource group. The answer to HEAD is 204.",
		Style: Manager, Method: "GET", Path: AzureGroup, Right: auth.Known, Answer: armResource,
	},
	{
		ID: "armPutResourceGroup", Summary: "Acknowledge a resource group", Text: "The scheduler stores nothing.", Style: Manager,
		Method: "PUT", Path: AzureGroup, Right: auth.Known, Body: armResource, MayEmpty: true, Answer: armResource, Statuses: put,
	},
	{
		ID: "armDeleteResourceGroup", Summary: "Delete a resource group without collections", Style: Manager,
		Method: "DELETE", Path: AzureGroup, Right: auth.Administer, Errors: []int{http.StatusConflict},
	},
	{
		ID: "armListProviders", Summary: "List the resource providers", Style: Manager,
		Method: "GET", Path: AzureSubscription + "/providers", Right: auth.Known, Answer: listOf(armResource),
	},
	{
		ID: "armGetProvider", Summary: "Show the resource provider Microsoft.Scheduler", Style: Manager,
		Method: "GET", Path: AzureSubscription + AzureProvider, Right: auth.Known, Answer: armResource,
	},
	{
		ID: "armRegisterProvider", Summary: "Register Microsoft.Scheduler", Style: Manager,
		Method: "POST", Path: AzureSubscription + AzureProvider + "/register", Right: auth.Known, Answer: armResource,
	},
	{
		ID: "armListSubscriptionCollections", Summary: "List the collections of a subscription", Style: Manager,
		Method: "GET", Path: AzureSubscription + AzureProvider + "/jobCollections", Right: auth.ReadAny, Answer: listOf(shownCollection),
	},
}

const (
	awxSchedules = "/api/v2/schedules/"
	awxTemplate  = "/api/v2/{kind}/{template}/schedules/"
)

// awxQuery are the parameters of a list of schedules (awx.ReadQuery).
var awxQuery = []Param{
	{Name: "page", Kind: Number, Min: 1, Text: "number of the page, from 1"},
	{Name: "page_size", Kind: Number, Min: 1, Text: "how many schedules a page has: 25, at most 200"},
	{Name: "order_by", Text: "id, name, created, modified or next_run, several with commas, with - for the reverse"},
	{Name: "id", Kind: Number, Min: 1, Text: "only the schedule with that id"},
	{Name: "name", Text: "only schedules with that name"},
	{Name: "name__icontains", Text: "only schedules whose name contains the text"},
	{Name: "search", Text: "only schedules whose name or description contains the text"},
	{Name: "enabled", Kind: Flag, Text: "only enabled, or only disabled, schedules"},
	{Name: "unified_job_template", Text: "only schedules of that template, as collection/job"},
}

// awxOperations are the operations on the paths of AWX. The last slash is optional.
var awxOperations = []Operation{
	{
		ID: "awxPreviewSchedule", Summary: "Preview the next ten occurrences of a recurrence", Style: AWX,
		Method: "POST", Path: awxSchedules + "preview/", Right: auth.Known,
		Body: composed("AWXPreviewRequest"), Answer: of[v1.AWXPreviewed](), Errors: []int{http.StatusBadRequest},
	},
	{
		ID: "awxListZones", Summary: "List the time zones", Style: AWX,
		Method: "GET", Path: awxSchedules + "zoneinfo/", Right: auth.Known, Answer: composed("AwxZoneList"),
	},
	{
		ID: "awxListSchedules", Summary: "List the schedules", Style: AWX,
		Method: "GET", Path: awxSchedules, Right: auth.ReadAny,
		Query: awxQuery, Answer: of[awx.List](), Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	{
		ID: "awxCreateSchedule", Summary: "Create a schedule of the template in the document", Style: AWX,
		Method: "POST", Path: awxSchedules, Right: auth.OperateAny,
		Body: composed("AWXScheduleRequest"), Answer: of[awx.Schedule](), Statuses: []int{http.StatusCreated},
		Errors: []int{http.StatusBadRequest, http.StatusConflict},
	},
	{
		ID: "awxGetSchedule", Summary: "Show a schedule", Style: AWX,
		Method: "GET", Path: awxSchedules + "{id}/", Right: auth.ReadAny, Answer: of[awx.Schedule](), Errors: missing,
	},
	{
		ID: "awxPutSchedule", Summary: "Replace a schedule", Text: "The schedule takes the current action of its template.", Style: AWX,
		Method: "PUT", Path: awxSchedules + "{id}/", Right: auth.OperateAny,
		Body: composed("AWXScheduleRequest"), Answer: of[awx.Schedule](), Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	{
		ID: "awxPatchSchedule", Summary: "Change a schedule", Style: AWX,
		Method: "PATCH", Path: awxSchedules + "{id}/", Right: auth.OperateAny,
		Body: composed("AWXScheduleRequest"), Answer: of[awx.Schedule](), Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	{
		ID: "awxDeleteSchedule", Summary: "Delete a schedule", Style: AWX,
		Method: "DELETE", Path: awxSchedules + "{id}/", Right: auth.OperateAny,
		Statuses: []int{http.StatusNoContent}, Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	{
		ID: "awxListTemplateSchedules", Summary: "List the schedules of a template", Style: AWX,
		Method: "GET", Path: awxTemplate, Right: auth.Read,
		Query: awxQuery, Answer: of[awx.List](), Errors: []int{http.StatusBadRequest, http.StatusNotFound},
	},
	{
		ID: "awxCreateTemplateSchedule", Summary: "Create a schedule of a template", Style: AWX,
		Method: "POST", Path: awxTemplate, Right: auth.Operate,
		Body: composed("AWXScheduleRequest"), Answer: of[awx.Schedule](), Statuses: []int{http.StatusCreated},
		Errors: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
	},
}

package api

import (
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// failureOperations are the operations on live statistics: the activity, and groups of failed attempts. createOperation
// pauses, enables or resubmits the jobs of a group.
var failureOperations = []Operation{
	{
		ID: "listFailures", Summary: "List failed attempts, grouped by cause", Group: past,
		Text:   "A cause is the target, the status or kind of error, and the type of the action. Open groups are first.",
		Method: "GET", Path: "/failures", Right: auth.ReadAny,
		Subject: "failure-list", Scoped: true, Returns: "groups of failed attempts, open ones first",
		Query: []Param{ofCollection}, Answer: listOf(of[v1.FailureGroup]()),
	},
	{
		ID: "getActivity", Summary: "Show what all schedulers do", Group: past,
		Text:   "It has counts of the last 60 minutes, and the targets in trouble.",
		Method: "GET", Path: "/activity", Right: auth.Read,
		Subject: "activity", Returns: "the activity of all schedulers",
		Answer: of[v1.Activity](),
	},
	{
		ID: "getFailure", Summary: "Show a group of failed attempts and its jobs", Group: past,
		Method: "GET", Path: "/failures/{id}", Right: auth.ReadAny,
		Subject: "failure-get.{id}", Scoped: true, Returns: "the group",
		Query: []Param{ofCollection}, Answer: of[v1.FailureGroup](), Errors: missing,
	},
	{
		ID: "acknowledgeFailure", Summary: "Acknowledge a group of failed attempts", Group: past,
		Text:   "It states that you handle the group, and ends when the group is resolved. " + bodyText,
		Method: "POST", Path: "/failures/{id}/ack", Right: auth.OperateAny,
		Subject: "failure-ack.{id}", Scoped: true, Returns: "the group",
		Query: []Param{ofCollection}, Body: of[v1.AcknowledgeRequest](), MayEmpty: true, Answer: of[v1.FailureGroup](), Errors: missing,
	},
	{
		ID: "muteFailure", Summary: "Mute a group of failed attempts until a time", Group: past,
		Method: "POST", Path: "/failures/{id}/mute", Right: auth.OperateAny,
		Subject: "failure-mute.{id}", Scoped: true, Returns: "the group",
		Query: []Param{ofCollection}, Body: of[v1.MuteRequest](), Answer: of[v1.FailureGroup](), Errors: missing,
	},
	{
		ID: "reopenFailure", Summary: "Reopen an acknowledged or muted group", Group: past,
		Method: "POST", Path: "/failures/{id}/reopen", Right: auth.OperateAny,
		Subject: "failure-reopen.{id}", Scoped: true, Returns: "the group",
		Query: []Param{ofCollection}, Bare: true, Answer: of[v1.FailureGroup](), Errors: missing,
	},
}

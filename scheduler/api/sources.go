package api

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

var shownSource = composed("ShownSource")

// sourceOperations are the operations on sources of events, and the requests of webhooks.
var sourceOperations = []Operation{
	{
		ID: "listSources", Summary: "List the sources of a collection by name", Group: events,
		Method: "GET", Path: "/jobCollections/{c}/sources", Right: auth.Read,
		Subject: "source-list.{c}", Returns: "the sources of a collection, by name",
		Answer: listOf(shownSource), Errors: missing,
	},
	{
		ID: "listAllSources", Summary: "List all sources by collection and name", Group: events,
		Method: "GET", Path: "/sources", Right: auth.ReadAny,
		Subject: "source-list", Returns: "the sources of all collections, by collection and name",
		Answer: listOf(shownSource),
	},
	{
		ID: "putSource", Summary: "Create or replace a source", Group: events,
		Method: "PUT", Path: "/jobCollections/{c}/sources/{n}", Right: auth.Operate,
		Subject: "source-put.{c}.{n}", Returns: "the source",
		Body: composed("Source"), Conditional: true, Tagged: true, Answer: shownSource, Statuses: put, Errors: missing,
	},
	{
		ID: "getSource", Summary: "Show a source, without secrets", Group: events,
		Method: "GET", Path: "/jobCollections/{c}/sources/{n}", Right: auth.Read,
		Subject: "source-get.{c}.{n}", Returns: "the source",
		Tagged: true, Answer: shownSource, Errors: missing,
	},
	{
		ID: "patchSource", Summary: "Merge into a source (RFC 7396)", Text: "Secrets that the patch omits stay.", Group: events,
		Method: "PATCH", Path: "/jobCollections/{c}/sources/{n}", Right: auth.Operate,
		Subject: "source-patch.{c}.{n}", Returns: "the source",
		Body: composed("SourcePatch"), Conditional: true, Tagged: true, Answer: shownSource, Errors: missing,
	},
	{
		ID: "deleteSource", Summary: "Delete a source", Text: "Stored events stay.", Group: events,
		Method: "DELETE", Path: "/jobCollections/{c}/sources/{n}", Right: auth.Operate,
		Subject: "source-delete.{c}.{n}", Returns: "nothing",
		Conditional: true, Errors: missing,
	},
	{
		ID: "receiveWebhook", Summary: "Receive an event of a webhook", Group: events,
		Text:   "The source verifies the sender. The scheduler answers after it has stored the event.",
		Method: "POST", Path: "/events/{c}/{n}", Right: auth.Open,
		Raw: true, Foreign: true, Answer: of[v1.PublishedEvent](), Statuses: []int{http.StatusAccepted},
		Errors: []int{
			http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge,
			http.StatusTooManyRequests, http.StatusMisdirectedRequest,
		},
	},
	{
		ID: "challengeWebhook", Summary: "Answer the challenge of a webhook", Group: events,
		Text:   "The answer is the query parameter that the source names.",
		Method: "GET", Path: "/events/{c}/{n}", Right: auth.Open,
		Foreign: true, Media: "text/plain", Errors: missing,
	},
}

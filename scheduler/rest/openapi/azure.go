package openapi

import "net/http"

// managerOperations are those of Azure's resource manager that its clients begin with.
var managerOperations = map[string]Operation{
	"GET /jobCollections": {
		ID: "armListCollections", Summary: "List the collections of a resource group", Answers: ok("CollectionList"),
	},
	"GET /subscriptions": {
		ID: "armListSubscriptions", Summary: "List the subscriptions that have collections", Answers: ok("ArmResourceList"),
	},
	"GET /subscriptions/{s}": {
		ID: "armGetSubscription", Summary: "Show a subscription: whoever names one has it", Answers: ok("ArmResource"),
	},
	"GET /subscriptions/{s}/resourceGroups": {
		ID: "armListResourceGroups", Summary: "List the resource groups that have collections", Answers: ok("ArmResourceList"),
	},
	"GET /subscriptions/{s}/resourceGroups/{g}": {
		ID: "armGetResourceGroup", Summary: "Show a resource group: whoever names one has it", Text: "HEAD is answered with 204.",
		Answers: ok("ArmResource"),
	},
	"PUT /subscriptions/{s}/resourceGroups/{g}": {
		ID: "armPutResourceGroup", Summary: "Answer as if a resource group were put, and keep nothing", Body: "ArmResource", MayEmpty: true,
		Answers: put("ArmResource"),
	},
	"DELETE /subscriptions/{s}/resourceGroups/{g}": {
		ID: "armDeleteResourceGroup", Summary: "Tell that a resource group is gone, unless it has collections", Answers: ok(""),
		Faults: []int{http.StatusConflict},
	},
	"GET /subscriptions/{s}/providers": {
		ID: "armListProviders", Summary: "List the resource providers", Answers: ok("ArmResourceList"),
	},
	"GET /subscriptions/{s}/providers/Microsoft.Scheduler": {
		ID: "armGetProvider", Summary: "Tell that Microsoft.Scheduler is registered", Answers: ok("ArmResource"),
	},
	"POST /subscriptions/{s}/providers/Microsoft.Scheduler/register": {
		ID: "armRegisterProvider", Summary: "Register Microsoft.Scheduler, which it always is", Answers: ok("ArmResource"),
	},
	"GET /subscriptions/{s}/providers/Microsoft.Scheduler/jobCollections": {
		ID: "armListSubscriptionCollections", Summary: "List the collections of a subscription", Answers: ok("CollectionList"),
	},
}

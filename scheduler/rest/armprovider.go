package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// managerVersion matches a version of the resource manager's own API. Azure has dozens; the answers are the same for
// all.
var managerVersion = regexp.MustCompile(`^20\d\d-\d\d-\d\d(-preview)?$`)

func checkManagerVersion(r *http.Request) error {
	given := r.URL.Query().Get(anyVersion)
	if managerVersion.MatchString(given) {
		return nil
	}
	if given == "" {
		return checkVersion(r)
	}
	return fault{
		http.StatusBadRequest, "InvalidApiVersionParameter",
		"The api-version '" + given + "' is invalid: it is a date, such as 2016-06-01.",
	}
}

// armResource is a subscription, a resource group or a provider.
type armResource struct {
	ID           string            `json:"id"`
	Subscription string            `json:"subscriptionId,omitempty"`
	DisplayName  string            `json:"displayName,omitempty"`
	Name         string            `json:"name,omitempty"`
	Type         string            `json:"type,omitempty"`
	Location     string            `json:"location,omitempty"`
	State        string            `json:"state,omitempty"`
	Properties   *provisioning     `json:"properties,omitempty"`
	Namespace    string            `json:"namespace,omitempty"`
	Registration string            `json:"registrationState,omitempty"`
	Types        []armResourceType `json:"resourceTypes,omitempty"`
}

type provisioning struct {
	State string `json:"provisioningState"`
}

type armResourceType struct {
	Name      string   `json:"resourceType"`
	Locations []string `json:"locations"`
	Versions  []string `json:"apiVersions"`
}

func subscriptionResource(name string) armResource {
	return armResource{ID: "/subscriptions/" + name, Subscription: name, DisplayName: name, State: "Enabled"}
}

// groupLocation is the location of a resource group. The resource manager uses this word for resources without a
// region.
const groupLocation = "global"

func groupResource(subscription, name string) armResource {
	return armResource{
		ID: "/subscriptions/" + subscription + "/resourceGroups/" + name, Name: name, Type: "Microsoft.Resources/resourceGroups",
		Location: groupLocation, Properties: &provisioning{"Succeeded"},
	}
}

// armLocations are Azure's locations of the service. Clients check the location of a collection against them; it has no
// other effect.
var armLocations = []string{
	"North Central US", "South Central US", "North Europe", "West Europe", "East Asia", "Southeast Asia", "West US", "East US",
	"Japan West", "Japan East", "Brazil South", "Central India", "West India", "South India", "East US 2", "Central US",
	"Australia East", "Australia Southeast", "Canada Central", "Canada East", "West US 2", "West Central US", "UK South", "UK West",
}

func providerResource(subscription string) armResource {
	versions := slices.Clone(armVersions)
	resource := armResource{
		ID: "/subscriptions/" + subscription + api.AzureProvider, Namespace: "Microsoft.Scheduler", Registration: "Registered",
	}
	for _, name := range []string{"jobcollections", "jobcollections/jobs", "jobcollections/jobs/history"} {
		resource.Types = append(resource.Types, armResourceType{name, armLocations, versions})
	}
	return resource
}

// scopes returns the scopes of the collections that the caller may see, and the default scope.
func (a *server) scopes(r *http.Request) ([]scheduler.Scope, error) {
	if err := checkManagerVersion(r); err != nil {
		return nil, err
	}
	all, err := a.Service.Collections(r.Context())
	found, sees := []scheduler.Scope{{}}, auth.Sees(r.Context())
	for _, c := range all {
		if sees(c.Name) && !slices.ContainsFunc(found, c.Scope.Is) {
			found = append(found, c.Scope)
		}
	}
	return found, err
}

func (a *server) listSubscriptions(w http.ResponseWriter, r *http.Request) error {
	scopes, err := a.scopes(r)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range scopes {
		name, _ := s.Names()
		if !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			names = append(names, name)
		}
	}
	return answer(w, http.StatusOK, v1.ListOf(names, subscriptionResource, ""))
}

func (a *server) getSubscription(w http.ResponseWriter, r *http.Request) error {
	s, err := managerScope(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, subscriptionResource(s.Subscription))
}

func (a *server) listGroups(w http.ResponseWriter, r *http.Request) error {
	scopes, err := a.scopes(r)
	if err != nil {
		return err
	}
	groups := []armResource{}
	for _, s := range scopes {
		if subscription, group := s.Names(); strings.EqualFold(subscription, r.PathValue("s")) {
			groups = append(groups, groupResource(subscription, group))
		}
	}
	return answer(w, http.StatusOK, v1.NewList(groups, ""))
}

// getGroup answers with a resource group. It answers HEAD, which checks for its existence, with 204, like the resource
// manager.
func (a *server) getGroup(w http.ResponseWriter, r *http.Request) error {
	s, err := managerScope(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return answer(w, http.StatusOK, groupResource(s.Subscription, s.Group))
}

// putGroup answers a put of a resource group like GET and stores nothing. Scripts put a group before its first
// collection.
func (a *server) putGroup(w http.ResponseWriter, r *http.Request) error {
	s, err := managerScope(r)
	if err != nil {
		return err
	}
	if _, err := readBody(w, r); err != nil {
		return err
	}
	scopes, err := a.scopes(r)
	if err != nil {
		return err
	}
	at, err := armScope(r)
	if err != nil {
		return err
	}
	return answer(w, putStatus(!slices.ContainsFunc(scopes, at.Is)), groupResource(s.Subscription, s.Group))
}

// deleteGroup accepts the deletion of a resource group without collections, which needs no change. It refuses to delete
// a group that has some: the client must delete each collection explicitly.
func (a *server) deleteGroup(w http.ResponseWriter, r *http.Request) error {
	if err := checkManagerVersion(r); err != nil {
		return err
	}
	s, err := armScope(r)
	if err != nil {
		return err
	}
	all, err := a.Service.Collections(r.Context())
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.Scope.Is(s) {
			return fmt.Errorf("resource group %s: %w: it has collections, such as %s: delete them first",
				r.PathValue("g"), scheduler.ErrConflict, scheduler.PlainName(c.Name))
		}
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (a *server) listProviders(w http.ResponseWriter, r *http.Request) error {
	s, err := managerScope(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v1.ListOf([]string{s.Subscription}, providerResource, ""))
}

// getProvider reports Microsoft.Scheduler as registered.
func (a *server) getProvider(w http.ResponseWriter, r *http.Request) error {
	s, err := managerScope(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, providerResource(s.Subscription))
}

// managerScope returns the scope in a path of the resource manager's own API, with its spelling.
func managerScope(r *http.Request) (scheduler.Scope, error) {
	if err := checkManagerVersion(r); err != nil {
		return scheduler.Scope{}, err
	}
	named := scheduler.Scope{Subscription: r.PathValue("s"), Group: r.PathValue("g")}
	group := named.Group
	if group == "" {
		group = scheduler.DefaultGroup // the path has no group
	}
	if _, err := scheduler.NewScope(named.Subscription, group); err != nil {
		return named, fmt.Errorf("the path: %w", err)
	}
	return named, nil
}

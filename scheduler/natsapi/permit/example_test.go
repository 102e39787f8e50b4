package permit_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/natsapi/permit"
)

var update = flag.Bool("update", false, "write the permissions of the example's users")

// exampleConfig is the configuration that users start from.
const exampleConfig = "../../../examples/nats/nats-server.conf"

// exampleUsers are its users, and what each is.
var exampleUsers = map[string]permit.Config{
	"carillon":           {Role: permit.Scheduler},
	"reader":             {Role: permit.Reader, User: "reader"},
	"operator":           {Role: permit.Operator, User: "operator"},
	"admin":              {Role: permit.Admin, User: "admin"},
	"partners-reader":    {Role: permit.Reader, User: "partners-reader", Collections: []string{"partners"}},
	"partners-operator":  {Role: permit.Operator, User: "partners-operator", Collections: []string{"partners"}},
	"partners-admin":     {Role: permit.Admin, User: "partners-admin", Collections: []string{"partners"}},
	"partners-publisher": {Role: permit.Publisher, User: "partners-publisher", Collections: []string{"partners"}},
}

func exampleOptions(t *testing.T) *server.Options {
	t.Helper()
	return must.Get(server.ProcessConfigFile(exampleConfig))(t)
}

// TestExampleHasThePermissionsOfTheTable shows that the example's users have what `carillon nats permissions` prints. With
// -update, it writes their permissions first.
func TestExampleHasThePermissionsOfTheTable(t *testing.T) {
	if *update {
		writeExample(t)
	}
	options := exampleOptions(t)
	if len(options.Users) != len(exampleUsers) {
		t.Errorf("%d users, want %d", len(options.Users), len(exampleUsers))
	}
	for _, u := range options.Users {
		want, err := permit.For(exampleUsers[u.Username])
		if err != nil {
			t.Errorf("%s: %v", u.Username, err)
			continue
		}
		got := permit.Permissions{
			Publish: u.Permissions.Publish.Allow, Subscribe: u.Permissions.Subscribe.Allow, Responses: u.Permissions.Response != nil,
		}
		inAnyOrder := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff(want, got, inAnyOrder); diff != "" {
			t.Errorf("%s: %s: go test ./scheduler/natsapi/permit -run %s -update writes the permissions (-table +example)\n%s",
				u.Username, exampleConfig, t.Name(), diff)
		}
	}
}

// exampleUser matches a user, with its lists of subjects.
var exampleUser = regexp.MustCompile(`(user: "([^"]+)"[^}]*?\n( *)publish: \[\n)[^]]*(\n *\]\n *subscribe: \[\n)[^]]*(\n *\])`)

// writeExample writes the permissions of each user of the example.
func writeExample(t *testing.T) {
	t.Helper()
	text := must.Get(os.ReadFile(exampleConfig))(t)
	text = exampleUser.ReplaceAllFunc(text, func(user []byte) []byte {
		part := exampleUser.FindSubmatch(user)
		p, err := permit.For(exampleUsers[string(part[2])])
		if err != nil {
			t.Fatalf("%s: %v", part[2], err)
		}
		list := func(subjects []string) string {
			line := string(part[3]) + "  \""
			return line + strings.Join(subjects, "\"\n"+line) + "\""
		}
		return []byte(string(part[1]) + list(p.Publish) + string(part[4]) + list(p.Subscribe) + string(part[5]))
	})
	must.Do(t, os.WriteFile(exampleConfig, text, 0o600))
}

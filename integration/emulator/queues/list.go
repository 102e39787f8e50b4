package queues

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// maxListed limits the entities of a list; a filter finds the others.
const maxListed = 500

// list is the first page.
type list struct {
	Bus, Storage bool
	Filter       string
	OnlyDead     bool
	Total        int // entities without the filter
	Entities     []browse.Entity
	Queues       []storagequeue.QueueStatus
	TotalQueues  int
	More         int // omitted entities
	MayManage    bool
	Connect      Connect
	Strings      [][2]string // to connect with
	BusCode      string
	StoreCode    string
	Events       string
}

// The first lines of a program that uses a queue.
const (
	busCode = `client, err := azservicebus.NewClientFromConnectionString(%q, nil)
sender, err := client.NewSender("orders", nil)
err = sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("hello")}, nil)`
	storeCode = `service, err := azqueue.NewServiceClientFromConnectionString(%q, nil)
_, err = service.CreateQueue(ctx, "orders", nil)
_, err = service.NewQueueClient("orders").EnqueueMessage(ctx, "hello", nil)`
)

// listed returns the entities whose names contain the filter.
func (r *section) listed(c *frame.Request) list {
	l := list{
		Bus: r.bus != nil, Storage: r.storage != nil, Filter: c.Query("q"), OnlyDead: c.Query("dead") != "",
		MayManage: c.May(auth.Administer, ""), Connect: r.connect, Strings: r.strings(),
	}
	only := ""
	if l.OnlyDead {
		only = "1"
	}
	l.Events = address("/events", "follow", "1", "q", l.Filter, "dead", only)
	lower := strings.ToLower(l.Filter)
	if l.Bus {
		all := r.bus().Entities()
		l.Total = len(all)
		l.Entities = few(all, &l.More, func(e browse.Entity) bool {
			return strings.Contains(strings.ToLower(e.Path), lower) && (!l.OnlyDead || e.DeadLetter+e.TransferDeadLetter > 0)
		})
		if l.Total == 0 && r.connect.Bus != nil {
			l.BusCode = fmt.Sprintf(busCode, r.connect.Bus())
		}
	}
	if l.Storage {
		all := r.storage().Queues()
		l.TotalQueues = len(all)
		l.Queues = few(all, &l.More, func(q storagequeue.QueueStatus) bool {
			return strings.Contains(q.Account+"/"+q.Name, lower) && (!l.OnlyDead || isPoison(q.Name))
		})
		if l.TotalQueues == 0 && r.connect.Storage != nil {
			l.StoreCode = fmt.Sprintf(storeCode, r.connect.Storage())
		}
	}
	return l
}

// few returns the items to list, up to maxListed, and adds the number of omitted ones to more.
func few[T any](all []T, more *int, listed func(T) bool) []T {
	all = slices.DeleteFunc(all, func(item T) bool { return !listed(item) })
	n := min(len(all), maxListed)
	*more += len(all) - n
	return all[:n]
}

// strings are what programs connect with: for what, by its key in the catalogue, and the string.
func (r *section) strings() (all [][2]string) {
	if r.bus != nil && r.connect.Bus != nil {
		all = append(all, [2]string{"queues.bus", r.connect.Bus()})
	}
	if r.storage != nil && r.connect.Storage != nil {
		all = append(all, [2]string{"queues.storage", r.connect.Storage()})
	}
	return all
}

func (r *section) list(c *frame.Request) error {
	return listPage.show(c, 0, c.Text("queues.title"), r.listed(c))
}

// followList updates the list.
func (r *section) followList(c *frame.Request) error {
	return listPage.follow(c, func() (any, []string, error) { return r.listed(c), []string{"lists"}, nil })
}

package job

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The number of links in a chain, and how long a page waits for the graph of all jobs.
const (
	linksMost = 100
	chainWait = 300 * time.Millisecond
)

// The drawing of a chain, in units of the SVG.
const (
	nodeWidth, nodeHeight = 190, 44
	layerWidth, rowHeight = 300, 60
	chainEdge             = 8
	nodeText              = 16 // bytes of a name
)

// chain is a graph of events and jobs that start jobs, in layers from left to right.
type chain struct {
	Width, Height int
	Nodes         []*node
	Links         []*link
	More          bool // there are further links
}

// node is an event or a job of a chain.
type node struct {
	Of, Name string // the collection, and the name in it
	Job      bool
	Path     string // of the page; "": none that the caller may see
	State    string // of the last run
	X, Y     int

	before []*node // that start it
	layer  int     // from 1; 0: not computed, -1: being computed
	row    int     // mean position of these
}

// Full returns collection/job, or collection.event.
func (n *node) Full() string {
	if n.Job {
		return n.Of + "/" + n.Name
	}
	return n.Of + "." + n.Name
}

// Short shortens a name to the width of the node.
func (*node) Short(name string) string { return document.Cut(name, nodeText) }

// link says that the source starts the job, after the outcomes of its runs, or is a condition of it.
type link struct {
	From, To  *node
	Label     string
	Condition bool
}

// Line returns the path of the line, from the right of the source to the left of the job.
func (l *link) Line() string {
	x1, y1, x2, y2 := l.From.X+nodeWidth, l.From.Y+nodeHeight/2, l.To.X-2, l.To.Y+nodeHeight/2
	bend, sag := (layerWidth-nodeWidth)/2, 0
	if x2 <= x1 { // a cycle
		sag = rowHeight
	}
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1+sag, x2-bend, y2+sag, x2, y2)
}

// LabelX and LabelY are the place of the label.
func (l *link) LabelX() int { return (l.From.X + nodeWidth + l.To.X) / 2 }

// LabelY is the place of the label.
func (l *link) LabelY() int { return (l.From.Y+l.To.Y+nodeHeight)/2 - 4 }

// graph returns the graph of all visible jobs. Readers share it.
func (r section) graph(c *frame.Request) (*v1.Graph, error) {
	sees, whose, err := c.Seen(r.service)
	if err != nil {
		return nil, err
	}
	one := r.graphs.At(c, whose, func(ctx context.Context, _ func(int)) (*v1.Graph, error) { return r.service.Graph(ctx, "", sees) })
	if one = one.Shown(c.Context(), chainWait); one == nil {
		return nil, frame.Problem{Status: http.StatusServiceUnavailable, Text: c.Text("job.graph.wait")}
	}
	return one.Value, one.Err
}

// connected returns the edges that are connected with a job, the nearest first.
func connected(all []v1.GraphEdge, job string) (edges []v1.GraphEdge) {
	of := map[string][]int{}
	for i := range all {
		of[all[i].Source()] = append(of[all[i].Source()], i)
		of[all[i].Starts] = append(of[all[i].Starts], i)
	}
	taken := map[int]bool{}
	for next := []string{job}; len(next) > 0; next = next[1:] {
		for _, i := range of[next[0]] {
			if !taken[i] {
				taken[i], edges, next = true, append(edges, all[i]), append(next, all[i].Source(), all[i].Starts)
			}
		}
	}
	return edges
}

// draw draws the first edges; nil for none.
func (r section) draw(c *frame.Request, edges []v1.GraphEdge) (*chain, error) {
	if len(edges) == 0 {
		return nil, nil //nolint:nilnil // there is no chain
	}
	g, nodes := &chain{More: len(edges) > linksMost}, map[string]*node{}
	at := func(name string, job bool) *node {
		if nodes[name] == nil {
			i := strings.IndexAny(name, "/.")
			nodes[name] = &node{Of: name[:i], Name: name[i+1:], Job: job}
			g.Nodes = append(g.Nodes, nodes[name])
		}
		return nodes[name]
	}
	for i := range edges[:min(len(edges), linksMost)] {
		e := &edges[i]
		var label []string
		if e.Condition {
			label = append(label, "onlyIf")
		}
		for _, one := range e.Outcomes {
			label = append(label, frame.State(one))
		}
		g.Links = append(g.Links, &link{at(e.Source(), e.Job != ""), at(e.Starts, true), strings.Join(label, " "), e.Condition})
	}
	g.place()
	return g, r.describe(c, g.Nodes, nodes)
}

// place gives the nodes their places: a layer by the longest path to it, and a row near those that start it.
func (g *chain) place() {
	for _, l := range g.Links {
		l.To.before = append(l.To.before, l.From)
	}
	layers := make([][]*node, len(g.Nodes))
	for _, n := range g.Nodes {
		x := n.assign() - 1
		layers[x] = append(layers[x], n)
	}
	for x, layer := range layers {
		for _, n := range layer {
			for _, from := range n.before {
				n.row += from.Y / len(n.before)
			}
		}
		slices.SortStableFunc(layer, func(a, b *node) int { return cmp.Compare(a.row, b.row) })
		for y, n := range layer {
			n.X, n.Y = chainEdge+x*layerWidth, chainEdge+y*rowHeight
			g.Width, g.Height = n.X+nodeWidth+chainEdge, max(g.Height, n.Y+rowHeight+chainEdge)
		}
	}
}

// assign returns the layer of a node. It ignores the link that closes a cycle.
func (n *node) assign() int {
	if n.layer != 0 {
		return n.layer
	}
	n.layer = -1
	layer := 1
	for _, from := range n.before {
		layer = max(layer, from.assign()+1)
	}
	n.layer = layer
	return layer
}

// describe adds links to the pages of the nodes, and the states of the last runs of jobs.
func (r section) describe(c *frame.Request, all []*node, byName map[string]*node) error {
	var keys []scheduler.Key
	for _, n := range all {
		switch {
		case !c.May(auth.Read, n.Of):
		case n.Job:
			keys = append(keys, scheduler.Key{Collection: n.Of, Job: n.Name})
		default:
			n.Path = frame.Address(frame.Root+"/events", nil, "collection", n.Of, "event", n.Name)
		}
	}
	for some := range slices.Chunk(keys, v1.MaxPage) {
		jobs, err := r.service.Some(c.Context(), some)
		if err != nil {
			return err
		}
		for _, v := range jobs {
			n := byName[v.Job.Key.String()]
			n.Path, n.State = frame.JobPath(v.Job.Key), string(v.Outcome)
			switch {
			case v.Status.Running:
				n.State = "running"
			case v.Job.State == scheduler.Disabled, v.Job.State == scheduler.Damaged:
				n.State = string(v.Job.State)
			}
		}
	}
	return nil
}

// showGraph answers with the graph of the jobs of a collection, or of all collections.
func (r section) showGraph(c *frame.Request) (err error) {
	s := struct {
		Collections []string
		Collection  string
		Chain       *chain
	}{Collection: c.Query("collection")}
	if s.Collection != "" {
		err = auth.Check(c.Context(), auth.Read, s.Collection)
	}
	if err != nil {
		return err
	}
	if s.Collections, err = c.Collections(r.service, auth.Read); err != nil {
		return err
	}
	g, err := r.graph(c)
	if err != nil {
		return err
	}
	of := func(job string) bool { return strings.HasPrefix(job, s.Collection+"/") }
	edges := slices.DeleteFunc(slices.Clone(g.Edges), func(e v1.GraphEdge) bool {
		return s.Collection != "" && !of(e.Starts) && !of(e.Job)
	})
	if s.Chain, err = r.draw(c, edges); err != nil {
		return err
	}
	return c.Show(shown(c.Text("job.graph"), "job-graph", "", s))
}

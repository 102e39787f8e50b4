package capacity

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
)

// Figures are measured costs. `go run ./integration/tool/bench -capacity DIR` computes them from its reports.
type Figures struct {
	Runs       []Cost `json:"runs"`       // of a run at various rates, lowest first
	Replicated Cost   `json:"replicated"` // of a run with three replicas, at a rate that Runs has too
	Burst      Cost   `json:"burst"`      // of a run among many that are due at one instant

	// StreamWrites is how many messages a second one stream with one copy stores.
	StreamWrites float64 `json:"streamWritesPerSecond"`

	// Resident memory of a process: without jobs, for each waiting job, and for each job of a burst.
	Server Memory `json:"natsServerMemory"`
	Serve  Memory `json:"serveMemory"`

	Disk Disk `json:"disk"`
}

// Cost is the processor time of a run in microseconds: the sum of all NATS servers, and of all `carillon serve` processes.
type Cost struct {
	PerSecond float64 `json:"perSecond,omitzero"` // runs
	Server    float64 `json:"natsServerMicroseconds"`
	Serve     float64 `json:"serveMicroseconds"`
}

// Memory is in bytes.
type Memory struct {
	Base  float64 `json:"base"`
	Job   float64 `json:"perJob"`
	Burst float64 `json:"perJobOfBurst"`
}

// Disk has the sizes in bytes of one definition, baton, entry and record, as JetStream counts them.
type Disk struct {
	Definition float64 `json:"definition"`
	Baton      float64 `json:"baton"`
	Change     float64 `json:"change"` // in the audit log
	Record     float64 `json:"record"`
}

//go:embed figures.json
var measured []byte

// Measured returns the figures of this version. An error is a defect of the build.
func Measured() (f Figures, err error) {
	if err = json.Unmarshal(measured, &f); err != nil {
		return f, fmt.Errorf("figures.json: %w", err)
	}
	return f, nil
}

// Load is the work of a system.
type Load struct {
	Jobs     float64 `json:"jobs"`           // that wait
	Runs     float64 `json:"runsPerSecond"`  // on average; a run has one attempt and one record
	Burst    float64 `json:"burst"`          // the most jobs that are due at one instant
	Attempt  float64 `json:"attemptSeconds"` // the usual duration of an attempt
	History  float64 `json:"historySeconds"` // how long records are kept
	PerJob   float64 `json:"historyPerJob"`  // the most records of a job; 0: unlimited
	Replicas int     `json:"replicas"`       // copies of all data, at least 1
}

// Plan has the resources for a load.
type Plan struct {
	Load Load `json:"load"`

	Servers Processes `json:"natsServers"`
	Serve   Processes `json:"serve"`
	Lanes   int       `json:"lanes"`

	// Concurrency is the value of --concurrency for each `carillon serve`.
	Concurrency int `json:"concurrency"`

	// Hold is the value of --hold-memory for each, so that the jobs of a burst are in memory when they are due.
	Hold float64 `json:"holdMemoryBytes"`

	Records      float64 `json:"records"`      // in the history after its age
	BurstSeconds float64 `json:"burstSeconds"` // until the last job of a burst has started
	Limits       []Limit `json:"limits"`
}

// Processes are equal processes, on a machine each. The figures are for one process.
type Processes struct {
	Number  int     `json:"number"`
	Cores   int     `json:"cores"`
	Memory  float64 `json:"memoryBytes"`
	Disk    float64 `json:"diskBytes,omitzero"`
	Network float64 `json:"networkBytesPerSecond"`
}

// Limit is a maximum of the design, for any number of processes.
type Limit struct {
	Name string  `json:"name"`
	Used float64 `json:"used"`
	Most float64 `json:"most"`
}

// The rules of a plan.
const (
	// Usage is the most of the processors and of a limit that a plan uses. The rest is for peaks, and for a process that
	// fails.
	Usage = 0.6

	serverCores = 8 // of a NATS server: more of them rather than larger ones
	serveCores  = 4
	compaction  = 2 // the disk that files need until NATS compacts them

	// A run writes to its lane when it is fired, when it is acknowledged and for its next instant.
	laneWrites = 3

	// A run sends its record and its next baton to NATS, which sends its baton to serve and both to each further copy.
	bytesToNATS   = 1300
	bytesFromNATS = 400

	leastConcurrency = 256       // the default of --concurrency
	leastHold        = 160 << 20 // the default of --hold-memory
	leastServer      = 256e6     // memory of a process, for peaks
	leastServe       = 400e6
	measuredCopies   = 3
)

// Needs returns the resources for a load.
func (f Figures) Needs(l Load) Plan {
	p := Plan{Load: l}
	copies := float64(l.Replicas)
	cores, more := f.Cores(l), f.replicated(l.Replicas)
	p.Servers = spread(cores.Server, serverCores, l.Replicas)
	p.Serve = spread(cores.Serve, serveCores, 2)
	left := float64(p.Serve.Number - 1) // when one has failed
	p.Serve.Cores = max(p.Serve.Cores, ceil(cores.Serve/left))
	share := copies / float64(p.Servers.Number) // of the data on one server

	perLane := f.StreamWrites / laneWrites
	p.Lanes = max(1, ceil(l.Runs/(Usage*perLane)), ceil(cores.Server/copies/Usage)) // a copy of a stream keeps one processor busy
	if l.Replicas > 1 {
		p.Lanes = max(p.Lanes, p.Servers.Number+1)
	}
	p.Concurrency = max(leastConcurrency, ceil(l.Runs*l.Attempt/Usage/float64(p.Serve.Number)), ceil(l.Runs*l.Attempt/left))

	p.Hold = max(leastHold, l.Burst/left*f.Serve.Burst)
	p.Servers.Memory = max(leastServer, f.Server.Base+share*(l.Jobs*f.Server.Job+l.Burst*f.Server.Burst))
	p.Serve.Memory = max(leastServe, f.Serve.Base+l.Jobs*f.Serve.Job+p.Hold)
	perJob := math.Inf(1)
	if l.PerJob > 0 {
		perJob = l.PerJob
	}
	if l.Jobs > 0 {
		p.Records = l.Jobs * min(l.Runs/l.Jobs*l.History, perJob)
	}
	jobs := l.Jobs * (f.Disk.Definition + f.Disk.Baton + f.Disk.Change)
	p.Servers.Disk = compaction * share * (jobs + p.Records*f.Disk.Record)
	p.Servers.Network = l.Runs * (bytesFromNATS + copies*bytesToNATS) / float64(p.Servers.Number)
	p.Serve.Network = l.Runs * (bytesFromNATS + bytesToNATS) / float64(p.Serve.Number)

	server := l.Burst * f.Burst.Server * more.Server / 1e6 / float64(p.Servers.Number*p.Servers.Cores)
	serve := l.Burst * f.Burst.Serve * more.Serve / 1e6 / float64(p.Serve.Number*p.Serve.Cores)
	slots := float64(p.Concurrency * p.Serve.Number)
	p.BurstSeconds = max(server, serve, l.Burst/(float64(p.Lanes)*perLane), l.Burst/f.StreamWrites, l.Burst*l.Attempt/slots)
	p.Limits = []Limit{
		{"records a second, in the one stream of the history", l.Runs, f.StreamWrites},
		{"runs a second of a lane", l.Runs / float64(p.Lanes), perLane},
		{"lanes", float64(p.Lanes), mostLanes},
	}
	return p
}

// Cores are processors that all processes together keep busy.
type Cores struct{ Server, Serve float64 }

// Cores returns the processors that the runs of a load keep busy.
func (f Figures) Cores(l Load) Cores {
	cost, more := f.at(l.Runs), f.replicated(l.Replicas)
	return Cores{l.Runs * cost.Server * more.Server / 1e6, l.Runs * cost.Serve * more.Serve / 1e6}
}

// mostLanes is the most that --lanes accepts.
const mostLanes = 256

// spread divides processor time, in cores, between processes of at most so many cores.
func spread(cores float64, most, least int) Processes {
	n := max(least, ceil(cores/Usage/float64(most)))
	return Processes{Number: n, Cores: max(1, ceil(cores/Usage/float64(n)))}
}

// at returns the cost of a run at a rate. Between two measured rates it follows the logarithm of the rate, because runs share
// wake-ups and packets the more, the closer they follow each other.
func (f Figures) at(rate float64) Cost {
	before := f.Runs[0]
	for _, c := range f.Runs {
		if rate < c.PerSecond && before != c {
			part := math.Log(rate/before.PerSecond) / math.Log(c.PerSecond/before.PerSecond)
			return Cost{rate, before.Server + part*(c.Server-before.Server), before.Serve + part*(c.Serve-before.Serve)}
		}
		if before = c; rate <= c.PerSecond {
			break
		}
	}
	return before
}

// replicated returns how many times the cost of one copy a number of copies has. Each further copy costs the same.
func (f Figures) replicated(copies int) (times Cost) {
	single := f.at(f.Replicated.PerSecond)
	further := float64(copies-1) / (measuredCopies - 1)
	return Cost{
		Server: 1 + further*(f.Replicated.Server/single.Server-1),
		Serve:  1 + further*(f.Replicated.Serve/single.Serve-1),
	}
}

func ceil(x float64) int { return int(math.Ceil(x)) }

package main

import "context"

// scenario is one thing to measure.
type scenario struct {
	name    string
	n       int    // default of -n
	rate    int    // default of -rate, where jobs fall due at one
	about   string // for the help
	apart   bool   // its processes are always apart
	kept    bool   // -n is how many jobs only wait, where others fall due at -rate
	measure func(ctx context.Context, b *bench) ([]part, error)
}

// scenarios are all of them, in the order of the help.
var scenarios = []scenario{
	{"herd", 10_000, 0, `N one-shot jobs are due at one instant. They are put through the scheduler's
service, wait in JetStream, fire, call the sink, and leave a history record each.
The bare baseline does the same with nothing of Carillon: N JetStream schedules for
one instant, a pull consumer, 64 HTTP calls at a time, an acknowledgement.`, false, false, herd},
	{"deliver", 10_000, 0, `The herd of Carillon, once for each type of action: HTTP, messages to a Service Bus
queue and to a storage queue through the emulators, and messages that JetStream
stores. Each target runs in this process too, and says itself when a call arrived:
HTTP and the storage queue when the request has come, the others when the message is
enqueued or stored (Service Bus in whole milliseconds). The order turns with the runs.`, false, false, deliver},
	{"steady", 0, 500, `Jobs that recur every -interval fall due at -rate a second, evenly, at instants
with millisecond fractions. After -warmup, every instant within -seconds is accounted
for; one whose call has not come ten seconds after the end is lost.`, false, false, steady},
	{"hold", 100_000, 0, `N one-shots due in 30 to 300 days are put through the service and then only
kept. Memory is that of the whole process: scheduler, NATS server and this
program. Then everything is closed and started again on the same directory, until a
new job has been put and has called the sink.`, false, false, hold},
	{"register", 100_000, 0, `Published: N job specs are published to carillon.spec.put.default.<job>, 4,000 at a
time under way, while the scheduler takes them in. It ends when every result is stored.
Called: N jobs are put through the API that answers each call, 64 at once over NATS
where the processes are apart, and else 256 at once in this process.`, false, false, register},
	{"kill", 10_000, 0, `The herd of Carillon with two carillon serve, of which one is killed (kill -9) when
-kill-at of the calls have arrived. What it had under way starts again with the other.`, true, false, kill},
	{"api", 0, 1000, `Jobs recur as in steady. In a first window nobody calls the API, and in a second one REST is
called -calls times a second, by turns a GET of a job that fires and a PUT that changes
one of 1,000 others; each tenth is a list of jobs that run soon. A call counts from the
instant that it was planned for.`, true, false, underFire},
	{"search", 100_000, 0, `N jobs with labels, of which one in fifty is disabled, wait for months. The scheduler is
started again, and when it has its index of jobs, pages of 100 are asked for: 100
pages of each list, which are those that follow the first, and the first again after
the last.`, true, false, search},
	{"console", 100_000, 500, `N jobs with labels wait for months. The scheduler is started again, and when it has its index of
jobs, others recur as in steady. Each page of the console is asked for 30 times, one
request after the other, and what it counts in the background three times.`, true, true, console},
	{"history", 100_000, 0, `N records of N/100 jobs in 20 collections are written, and pages of 100 are asked for as by
search: of a scheduler that keeps no index of the history, as one is before it has
built it, and of one that has it.`, true, false, searchHistory},
	{"backup", 100_000, 0, `N jobs with labels wait for months, and 100 others fire every ten seconds. "carillon backup" takes
a backup of all, "carillon restore" restores it to another prefix with four lanes, and a
backup of that is compared with the first.`, true, false, backUp},
	{"profile", 10_000, 0, `The herd in processes, as -scenario herd -shape processes -profiles DIR: what keeps
nats-server and carillon serve busy (cpu), what they allocate (allocs; allocs.base is
from before) and what is in their memory in the end (heap), a file each for
"go tool pprof", and also of nats-server under the bare baseline. -profiles DIR does it
for the scenarios herd, steady, hold and register, too.`, true, false, herd},
	{"next", 0, 0, `The time that single steps of planning take, on one core: the next instant of
recurrences that began ten years ago, and reading a job document. With -n, each is
repeated so often, and else for a second.`, false, false, next},
}

func scenarioNames() []string {
	names := make([]string, 0, len(scenarios))
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

// bench is one run of a scenario.
type bench struct {
	options

	run      int // 0 is the first
	progress *progress
	workshop *workshop
}

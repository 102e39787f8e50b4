package main

// The shapes of what is measured.
const (
	shapeOne       = "one"       // NATS server, scheduler and sink in this process
	shapeProcesses = "processes" // each is a process of its own, as users run them
)

// The names of the processes, which begin the names of their figures. load is this one.
const (
	processServer = "server" // nats-server
	processWorker = "worker" // carillon serve; bare: the consumer with its HTTP client
	processSink   = "sink"
	processLoad   = "load"
)

// apart reports whether what is measured runs in processes of its own.
func (o *options) apart() bool { return o.shape == shapeProcesses }

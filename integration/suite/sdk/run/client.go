package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A client is one version of a library or program that talks to Service Bus, to storage queues or to the scheduler.
type client struct {
	name string
	// scheduler says that the client is one of the scheduler, not of the emulators.
	scheduler bool
	// from is the client's origin and requirements.
	from string
	// prepare installs or builds the suite and returns its command line. The error is an absence if this machine
	// lacks a requirement.
	prepare func(ctx context.Context, r *runner) ([]string, error)
}

// An absence says why a client cannot be run on this machine.
type absence string

func (a absence) Error() string { return string(a) }

// clients are all of them, in the order of the table's columns.
var clients = []client{
	python("azure-servicebus", "servicebus.py", "azure.servicebus", "python3-azure python3-uamqp"),
	python("qpid-proton", "proton_suite.py", "proton.reactor", "python3-qpid-proton"),
	npm("@azure/service-bus 7.0", "servicebus.mjs", "service-bus-7.0"),
	npm("@azure/service-bus 7.4", "servicebus.mjs", "service-bus-7.4"),
	npm("@azure/service-bus 7.9", "servicebus.mjs", "service-bus-7.9"),
	npm("rhea", "rhea.mjs", "rhea"),
	npm("amqp10", "amqp10.mjs", "amqp10"),
	npm("azure-sb", "azuresb.mjs", "azure-sb"),
	golang("azservicebus 1.0", "azservicebus", "v1.0.mod"),
	golang("azservicebus 1.5", "azservicebus", "v1.5.mod"),
	golang("azservicebus 1.10", "azservicebus", "go.mod"),
	golang("go-amqp", "goamqp", "go.mod"),
	golang("gocloud", "gocloud", "go.mod"),
	golang("Dapr servicebus", "dapr", "go.mod", "servicebus"),
	python("azure-storage-queue", "storagequeue.py", "azure.storage.queue", "python3-azure"),
	azureCLI("azure-cli", "azurecli.py"),
	npm("@azure/storage-queue 12.0", "storagequeue.mjs", "storage-queue-12.0"),
	npm("@azure/storage-queue 12.14", "storagequeue.mjs", "storage-queue-12.14"),
	npm("@azure/storage-queue 12.30", "storagequeue.mjs", "storage-queue-12.30"),
	npm("azure-storage", "azurestorage.mjs", "azure-storage"),
	golang("azqueue 1.0", "azqueue", "go.mod"),
	golang("Dapr storagequeues", "dapr", "go.mod", "storagequeues"),
	ofScheduler(npm("azure-arm-scheduler", "scheduler.mjs", "azure-arm-scheduler")),
	ofScheduler(python("azure-mgmt-scheduler", "scheduler.py", "azure.mgmt.scheduler", "python3-azure")),
	ofScheduler(golang("azure-sdk-for-go scheduler", "scheduler", "go.mod")),
	ofScheduler(npm("@nats-io/transport-node", "nats.mjs", "@nats-io/transport-node")),
	elsewhere("Java azure-messaging-servicebus", "Maven Central"),
	elsewhere("Java azure-storage-queue", "Maven Central"),
	elsewhere(".NET Azure.Messaging.ServiceBus", "NuGet"),
	elsewhere(".NET Azure.Storage.Queues", "NuGet"),
}

// chosen returns the clients with one of the words in their names, or all without words.
func chosen(words []string) ([]client, error) {
	if len(words) == 0 {
		return clients, nil
	}
	var some []client
	for _, c := range clients {
		if slices.ContainsFunc(words, c.called) {
			some = append(some, c)
		}
	}
	for _, word := range words {
		if !slices.ContainsFunc(some, func(c client) bool { return c.called(word) }) {
			return nil, fmt.Errorf("no client has %q in its name; -list names them", word)
		}
	}
	return some, nil
}

// called reports whether a word is in the client's name or in where it comes from.
func (c client) called(word string) bool {
	return strings.Contains(strings.ToLower(c.name+" "+c.from), strings.ToLower(word))
}

// ofScheduler is a client of the scheduler.
func ofScheduler(c client) client {
	c.scheduler = true
	return c
}

// elsewhere is a client of a registry that this runner does not use.
func elsewhere(name, registry string) client {
	reason := fmt.Sprintf("it comes from %s; the runner uses Debian's packages, npm and Go modules", registry)
	return client{name: name, from: registry, prepare: func(context.Context, *runner) ([]string, error) {
		return nil, absence(reason)
	}}
}

// Results of an operation.
const (
	pass   = "pass"
	fail   = "fail"
	notRun = "not run"
)

// A result is the result of one operation of one client.
type result struct {
	Client  string `json:"client"`
	Version string `json:"version,omitempty"`
	// Operation is empty for the whole client: it was not run, or its suite did not finish.
	Operation string `json:"operation,omitempty"`
	Result    string `json:"result"`
	// Millis is how long the operation took.
	Millis float64 `json:"ms"`
	// MillisPerSend is the time from a send to the next, where the operation is a series of them.
	MillisPerSend float64 `json:"msPerSend,omitempty"`
	// Error is why an operation failed or was not run.
	Error string `json:"error,omitempty"`
}

// readResult reads a line that a suite wrote. The client's name is the runner's to say.
func readResult(client string, line []byte) (result, error) {
	var r result
	if err := json.Unmarshal(line, &r); err != nil {
		return result{}, fmt.Errorf("the suite wrote %q, which is no result: %w", line, err)
	}
	r.Client = client
	switch {
	case !slices.Contains(slices.Concat(serviceBus, storageQueue, azureScheduler, natsEvents), r.Operation):
		return result{}, fmt.Errorf("the suite wrote of operation %q, which operation.go does not have", r.Operation)
	case r.Result != pass && r.Error == "":
		return result{}, fmt.Errorf("the suite wrote result %q of %q without a reason", r.Result, r.Operation)
	case r.Result != pass && r.Result != fail && r.Result != notRun:
		return result{}, fmt.Errorf("the suite wrote result %q of %q, which is none of pass, fail, not run", r.Result, r.Operation)
	}
	return r, nil
}

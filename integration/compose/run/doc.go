// Run starts the stack of docker-compose.yml, breaks it and checks what it delivers:
//
//	go run ./integration/compose/run                 # the profile local
//	go run ./integration/compose/run -profile cluster
//
// It waits for deliveries of every type of action, kills a scheduler and a NATS server, ends the stack and starts it
// again, and then compares the history with what the consumer printed: each occurrence of each job ran, and arrived.
// What was measured is printed last, as JSON.
//
// Where images cannot be pulled, the base images are made here, under the names that the Dockerfile and the compose file
// have: one of BusyBox and this machine's Go, and one of BusyBox and nats-server, built from its module. They are called
// stand-ins, and go when the run ends. -pull takes the real ones.
//
// The exit code is 1 when something is wrong, and 0 when no Docker engine answers: this is said.
package main

// Run starts the stack of docker-compose.yml, breaks it and checks what it delivers:
//
//	go run ./integration/compose/run                  # the profile local
//	go run ./integration/compose/run -profile cluster
//	go run ./integration/compose/run -observe         # with Prometheus, Jaeger and Grafana beside it
//
// It waits for deliveries of every type of action, kills a scheduler and a NATS server, ends the stack and starts it
// again, and then compares the history with what the consumer printed: each occurrence of each job ran, and arrived.
// With -observe it also asks Prometheus for both schedulers, each type of action and the alerts, Jaeger for traces, and
// Grafana for the dashboard. What was measured is printed last, as JSON.
//
// Where images cannot be pulled, the base images are made here, under the names that the Dockerfile and the compose file
// have: of BusyBox and this machine's Go, of BusyBox and nats-server, built from its module, and of BusyBox and this
// machine's Prometheus. They are called stand-ins, and go when the run ends. There are none for Jaeger and Grafana: without
// their images these are NOT RUN. -pull takes the real ones. What is compiled for the images is kept in the user's cache.
//
// Instead of the stack, a fresh clone is tried:
//
//	go run ./integration/compose/run -fresh                          # with go test -short ./...
//	go run ./integration/compose/run -fresh -tests ./...             # with all tests
//	go run ./integration/compose/run -fresh -tests '-short ./store'  # with some
//
// The last commit is cloned into a container whose file system has Go and certificates, and nothing else: no shell, no git,
// no C compiler, no home directory, and a user without a name. There the two commands of the README run. The first job has
// to be delivered within ten seconds of the build's end.
//
// The exit code is 1 when something is wrong, and 0 when no Docker engine answers: this is said.
package main

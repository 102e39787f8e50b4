// Command run starts the stack of docker-compose.yml, breaks it and checks its deliveries:
//
//	go run ./integration/tool/compose                  # the profile local
//	go run ./integration/tool/compose -profile cluster
//
// It waits for deliveries of every action type, kills a scheduler and a NATS server, and restarts the stack.
// In the end it compares the history with the consumer's output: each occurrence of each job ran, and arrived. Its last
// output is a line of JSON with the measurements.
//
// If images cannot be pulled, it builds substitutes for the base images, under the names that the Dockerfile and
// the compose file use: from BusyBox and this machine's Go, and from BusyBox and nats-server. It removes them at the
// end. -pull uses the real images. Compiled packages are kept in the user's cache.
//
// Or it tests a fresh clone:
//
//	go run ./integration/tool/compose -fresh                          # with go test -short ./...
//	go run ./integration/tool/compose -fresh -tests ./...             # with all tests
//	go run ./integration/tool/compose -fresh -tests '-short ./store'  # with some
//
// It clones the last commit into a container whose file system contains only Go and certificates: no shell, git,
// C compiler or home directory, and a user without a name. There it runs the two commands of the README. The
// first job must be delivered within ten seconds after the build.
//
// Exit code: 1 after a failed check; 0, with a message, without a Docker engine.
package main

// Package node puts one Carillon process together: the store, the service, a
// worker, and the APIs over NATS and HTTP. `carillon dev` and `carillon serve`
// are this package with different surroundings.
//
// A node stops in this order: it takes no more batons and specs, and /readyz
// says so; what runs gets its grace; then requests over HTTP get theirs, and
// live tails end; then Run returns, and its caller may close the connection and
// the server behind it.
package node

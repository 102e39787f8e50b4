// Package actions combines action types into a registry.
//
// Each action type is implemented by a package below this one, such as actions/web. Only these packages have effects on
// the outside world. Each has a client, which is a [scheduler.ActionReader]. A [Registry] combines several; package
// builtin combines all of them:
//
//	registry := builtin.New(builtin.Config{Version: version})
//	defer registry.Close()
//
// A client can implement two optional methods. Member(kind string) string names the field of an action that belongs to a
// type; the registry refuses that field in actions of other types. Close is called when the registry is closed.
//
// A [Failure] says why an attempt failed, for all types. Package actiontest tests the common behavior of all types.
//
// Packages do not register themselves: the main function decides which action types a process can run.
package actions

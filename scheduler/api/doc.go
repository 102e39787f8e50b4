// Package api is the table of operations: everything that a client can ask of the scheduler, one row each ([Operations]).
//
// A row drives every interface, so that an operation exists once:
//
//	row ─┬─ method, path ──────► package rest: routes, query parameters, conditions
//	     ├─ subject ───────────► package natsapi: endpoints; natsapi/permit: permissions of NATS users
//	     ├─ right ─────────────► package auth: the permission of the caller
//	     ├─ types, errors, … ──► package rest/openapi: the OpenAPI document
//	     └─ path and subject ──► package client: the NATS request for a path
//
// The package guarantees (its tests check each):
//
//  1. Names, paths and subjects are unique.
//  2. A row without a right is an error, because no caller could use the operation.
//  3. A name in a path has a description ([Names]), and a subject has the names of its path.
//
// It holds data only. Functions that perform an operation are in the packages that serve it.
package api

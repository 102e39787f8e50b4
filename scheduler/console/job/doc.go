// Package job is the console's page of one job: its definition, its past and next runs, explanations, and actions.
//
// A run is shown as one line per occurrence, which summarizes its records: attempts, retries and error actions. The
// page receives small updates as events, and its script fetches the rest. After a lost connection it is complete again,
// because its content comes from the store.
package job

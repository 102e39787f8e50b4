// Package collections has the console's list of collections and the page of each one: its jobs by state, its quotas,
// the limits of its targets and, for admins, the settings as a form.
package collections

// Package load shows the future load: the forecast by minute, with proposals that flatten its peaks, and a calendar.
//
//	request ──► look (shared, computed in the background) ──► page, or progress and retry
//	proposal ──► review (dry run) ──► apply (If-Match)
//
// Guarantees:
//
//  1. Pages answer immediately, even with a million jobs: a result that takes long is fetched when it is ready. All
//     readers share a computation and its result for a minute. An older result stays visible with its age, for at most
//     an hour, until the next one is ready.
//  2. No result contains collections that its reader may not see: readers with different rights share none.
//  3. A proposal changes a job only after a dry run that the user has seen, and only if the job has not changed since.
package load

package scheduler

// Load is how much there is to do in a store, for all processes together.
type Load struct {
	Lanes []LaneLoad // in their order
	Specs int        // published specs that are not done with
}

// LaneLoad is how much there is to do in one lane.
type LaneLoad struct {
	Waiting int // batons whose timers have yet to fire
	Running int // batons that have fired: some are with workers, and of these some wait for their exact instant
	Pending int // of these, those that no worker has been given yet
}

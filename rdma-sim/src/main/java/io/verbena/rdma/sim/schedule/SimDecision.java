package io.verbena.rdma.sim.schedule;

/** What a run decides. In each, 0 is the calm choice: shortest, in order, nothing happens. */
public enum SimDecision
{
    /** Order of steps of one time. */
    TIE,
    /** Ordinary delay of a message, above the shortest. */
    DELAY_NS,
    /** Whether a message takes a long delay. */
    LONG_DELAY,
    /** How long that is. */
    LONG_DELAY_NS,
    /** Whether an arrived request is slow to begin. */
    LINGER,
    /** How slow. */
    LINGER_NS,
    /** Time between two pieces of requests at a responder. */
    PIECE_NS,
    /** Whether a later request goes first where the contract allows it. */
    OVERTAKE,
    /** Which line of a torn request is next. */
    TEAR,
    /** Whether what a queue pair of a killed node has under way is lost. */
    CUT,
    /** Whether what a queue pair of a paused node has under way is held back. */
    HOLD,
    /** Time that a call of an agent takes, above the shortest. */
    STEP_NS,
    /** Whether an agent stalls after a call. */
    STALL,
    /** How long that is. */
    STALL_NS,
    /** Which scheduled faults there are, where and when. */
    FAULT,
    /** Whether a message of an unreliable queue pair is lost. */
    LOSS,
    /** How many packets of it arrived before. */
    LOST_PACKET,
    /** Random numbers of the test itself. */
    WORKLOAD,
    /** Which transition comes next, when all orders are explored. */
    TRANSITION,
    /** Whether a response of an RC queue pair is lost. */
    RESPONSE_LOSS,
    /** For how long named memory of a killed device is still reached. */
    AFTER_DEATH_NS
}

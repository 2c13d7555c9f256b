package io.verbena.rdma.sim.schedule;

/**
 * A step whose time matters to others than the node at which it happens: an exploration holds it back until it
 * chooses it. Without an exploration it is a step like any other.
 */
public interface SimChoice
{
    /** Whose request it serves. */
    SimParty requester();

    /** Where it happens. */
    SimParty at();

    /** Whether it would change nothing any more. */
    boolean isVoid();

    /** Whether it matters only to those whose actors may look late. */
    boolean isResponse();

    /** Time before which it would do nothing. */
    long readyNs();

    /** Adds what is not described by an object of a device. */
    void describe(StateWords words);
}

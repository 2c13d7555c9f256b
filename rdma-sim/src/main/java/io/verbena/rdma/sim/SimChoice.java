package io.verbena.rdma.sim;

/**
 * A step whose time matters to others than the node at which it happens: {@link ExploredAgenda} holds it back until an
 * exploration chooses it. Without an exploration it is a step like any other.
 */
interface SimChoice
{
    /** Whose request it serves. */
    SimDevice requester();

    /** Where it happens. */
    SimDevice at();

    /** Whether it would change nothing any more. */
    boolean isVoid();

    /** Whether it matters only to those whose actors may look late. */
    boolean isResponse();

    /** Time before which it would do nothing. */
    long readyNs();

    /** Adds what is not described by an object of a device. */
    void describe(StateWords words);
}

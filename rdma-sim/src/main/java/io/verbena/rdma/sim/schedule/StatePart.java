package io.verbena.rdma.sim.schedule;

/** What a state is made of, for {@link StateWords}. */
public enum StatePart
{
    /** Killed, silenced, paused; crashes and losses so far; whether an actor has something to look at. */
    NODES,
    /** What the devices of actors have shown them, or the actors' own state. */
    HISTORY,
    /** Memory of the devices without an actor. */
    MEMORY,
    /** Regions: keys, bounds, rights. */
    KEYS,
    /** Memory windows and what they are bound to. */
    WINDOWS,
    /** States, attributes, connections of queue pairs. */
    QUEUE_PAIRS,
    /** Posted and not launched, launched and not completed. */
    SENDS,
    /** Arrived at a responder and not wholly executed. */
    REQUESTS,
    /** Receives of single queue pairs. */
    RECEIVES,
    /** Receives that queue pairs share, and their limit. */
    SHARED_RECEIVES,
    /** Completions that are not polled, overrun. */
    COMPLETIONS,
    /** Armed notifications, events of completion channels that were not taken. */
    NOTIFICATIONS,
    /** Asynchronous events that were not taken. */
    EVENTS,
    /** DC: whom initiators are connected to and what waits for it, states of targets. */
    DC_CONNECTIONS,
    /** Connection requests that nobody answered, answers. */
    CONNECTIONS,
    /** Under way to some node: datagrams, disconnects, responses. */
    MESSAGES
}

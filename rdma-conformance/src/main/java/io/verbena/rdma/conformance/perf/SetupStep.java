package io.verbena.rdma.conformance.perf;

import java.util.Locale;

/** What has to be done until a first request can be posted, in the order in which it is done. */
public enum SetupStep
{
    /** Until the provider knows whether it can be used: a verbs library is loaded here. */
    LIBRARY_LOAD,
    /** The fabric by its name. */
    FABRIC_OPEN,
    /** A device with its connection service. */
    DEVICE_OPEN,
    /** A protection domain. */
    PROTECTION_DOMAIN,
    /** 4 KiB, allocated and registered. */
    REGION,
    /** A completion queue of 64. */
    COMPLETION_QUEUE,
    /** An RC queue pair, in RESET. */
    QUEUE_PAIR,
    /** RESET to INIT by hand. */
    INIT,
    /** INIT to RTR by hand: what the device does to know its peer. */
    READY_TO_RECEIVE,
    /** RTR to RTS by hand. */
    READY_TO_SEND,
    /** By the connection service, both sides from RESET to RTS, until the requester knows. */
    CONNECT,
    /** A READ of 64 bytes, the first on its queue pair, until its completion has been polled. */
    FIRST_READ;

    /** @return as people read it, such as {@code queue pair}. */
    public String text()
    {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}

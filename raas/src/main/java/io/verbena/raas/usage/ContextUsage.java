package io.verbena.raas.usage;

import io.verbena.raas.completion.Replays;

import java.util.List;

/**
 * What a {@link io.verbena.raas.RaasContext} has open, what became of queue pairs that broke, and what its tenants did.
 *
 * @param virtualQps   open virtual queue pairs: connections.
 * @param queuePairs   physical queue pairs that this side made, usable or being connected.
 * @param dcInitiators made, in use or not.
 * @param droppedMessages messages whose kind or number nobody here has: of a newer program, late, or forged.
 * @param messages     what message endpoints did.
 * @param replays      what became of queue pairs that broke.
 * @param tenants      of each tenant, the default one first.
 */
public record ContextUsage(
    int virtualQps, int queuePairs, int dcInitiators, long droppedMessages, MessageUsage messages,
    Replays replays,
    List<TenantUsage> tenants)
{
    /** Of what has no connections. */
    public static final ContextUsage NONE = new ContextUsage(0, 0, 0, 0, MessageUsage.NONE, Replays.NONE, List.of());
}

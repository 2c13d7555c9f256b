package io.verbena.rdma.verbs;

import java.util.Objects;

/**
 * What a DC target is made of ({@code mlx5dv_dc_init_attr} and the attributes of its way to RTR).
 *
 * @param receiveCompletions where receives complete.
 * @param sharedReceiveQueue where receives are taken from; needed.
 * @param accessKey          what initiators have to name, 64 bits.
 * @param accessFlags        rights of every initiator, see {@link AccessFlags}.
 * @param maxReadAtomic      READs and atomics it answers at once for an initiator; an RNIC has one number for all its
 *                           targets, and does not ask.
 */
public record DcTargetOptions(
    CompletionQueue receiveCompletions,
    SharedReceiveQueue sharedReceiveQueue,
    long accessKey,
    int accessFlags,
    int maxReadAtomic)
{
    /** Checks that the queues are there. */
    public DcTargetOptions
    {
        Objects.requireNonNull(receiveCompletions);
        Objects.requireNonNull(sharedReceiveQueue);
    }
}

package io.verbena.compute.figures;

/**
 * How much memory a compute node holds at all memory nodes, at one instant: the sums over a {@link NodeSpace}, of
 * counters, so that who looks often costs the node nothing that grows with what it holds.
 *
 * @param heldBytes    of every range.
 * @param isReclaiming whether it reclaims chunks, or will at once.
 * @param unknownBytes blocks of which it does not know whether a word names them, in its present registration.
 * @param waitingBytes of these ranges, those that wait for an epoch before they are used again.
 * @param sweepsAsked  sweeps of all chunks of this node that requests asked for, in its present registration.
 * @param sweepsEnded  as many of these, at least, have ended at every memory node.
 */
public record SpaceFigures(
    long heldBytes, boolean isReclaiming, long unknownBytes, long waitingBytes, long sweepsAsked, long sweepsEnded)
{
}

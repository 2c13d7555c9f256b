package io.verbena.memory;

/**
 * The step of fencing that mutation checks may leave out, a bit beside those of {@link DurabilityGuard}; production
 * never sets it.
 */
final class FenceGuard
{
    /** The connections of a node that ended are closed before its chunks are up for reclamation. */
    static final int CUT_OFF = 1 << 16;

    private FenceGuard()
    {
    }
}

package io.verbena.rdma.sim.schedule;

/** A simulated run failed; the message names the seed with which it replays. */
public final class SimFailureException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message what failed, with seed, step and virtual time.
     * @param cause   what an agent threw, or null.
     */
    public SimFailureException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}

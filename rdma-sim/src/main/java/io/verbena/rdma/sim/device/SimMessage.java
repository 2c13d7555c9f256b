package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.StateWords;

import java.util.function.BooleanSupplier;

/**
 * A message on its way, as something to choose.
 *
 * @param what       it is.
 * @param request    it is about; null: about a connection.
 * @param requester  whose request or connection it is.
 * @param at         where it arrives.
 * @param isResponse whether it comes back to the requester.
 * @param isLate     asked whether it is of no use any more.
 */
public record SimMessage(
    String what, SimRequest request, SimHost requester, SimHost at, boolean isResponse, BooleanSupplier isLate)
    implements SimChoice
{
    /** What comes to a UD queue pair. */
    static final String DATAGRAM = "datagram";

    /** The outcome of a request comes back, or its absence is noticed. */
    static SimMessage response(final String what, final SimRequest request, final BooleanSupplier isLate)
    {
        final SimHost requester = request.requester.host();
        return new SimMessage(what, request, requester, requester, true, isLate);
    }

    /** Whether it is one that may get lost. */
    public boolean isDatagram()
    {
        return what.equals(DATAGRAM);
    }

    @Override
    public boolean isVoid()
    {
        return isLate.getAsBoolean();
    }

    @Override
    public long readyNs()
    {
        return 0;
    }

    @Override
    public void describe(final StateWords words)
    {
        words.accept(what.hashCode());
        words.accept((long)requester.index() << 32 | at.index());
        if (request != null)
        {
            request.describe(words);
        }
    }

    @Override
    public String toString()
    {
        return what + (request == null ? "" : ": " + request);
    }
}

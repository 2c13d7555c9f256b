package io.verbena.client.routing;

import org.agrona.concurrent.NanoClock;

/**
 * What the tables of a client work by.
 *
 * @param clock            of the fabric.
 * @param defaultTimeoutNs of operations that name none.
 * @param syncCalls        of the client.
 * @param asyncCalls       of the client.
 */
record TableCalls(NanoClock clock, long defaultTimeoutNs, SyncCalls syncCalls, AsyncCalls asyncCalls)
{
    long deadlineNs(final long timeoutNs)
    {
        return clock.nanoTime() + Arguments.checkTimeout(timeoutNs);
    }
}

package io.verbena.client.routing;

import org.agrona.concurrent.NanoClock;

/**
 * What the tables of a client work by.
 *
 * @param clock           of the fabric.
 * @param timeoutNs       of handles that are given no other.
 * @param syncCalls       of the client.
 * @param asyncCalls      of the client.
 * @param backgroundCalls of the client.
 */
record TableCalls(
    NanoClock clock, long timeoutNs, SyncCalls syncCalls, AsyncCalls asyncCalls, BackgroundCalls backgroundCalls)
{
}

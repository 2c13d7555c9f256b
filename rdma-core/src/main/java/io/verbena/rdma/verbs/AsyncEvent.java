package io.verbena.rdma.verbs;

/**
 * An asynchronous event ({@code struct ibv_async_event}), acknowledged as it was taken.
 *
 * @param type   what happened.
 * @param source the {@link QueuePair}, {@link DcTarget}, {@link CompletionQueue}, {@link SharedReceiveQueue} or
 *               {@link Device} it happened to.
 */
public record AsyncEvent(AsyncEventType type, Object source)
{
}

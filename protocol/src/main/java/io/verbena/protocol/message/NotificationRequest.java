package io.verbena.protocol.message;

/**
 * What a node knows that would hear of news, so that what has changed since it heard last is told at once.
 *
 * @param nodeId            of the node.
 * @param incarnation       of its life.
 * @param epoch             the newest that it has heard of.
 * @param membershipVersion heard with it.
 */
public record NotificationRequest(int nodeId, int incarnation, long epoch, long membershipVersion)
{
}

package io.verbena.protocol.message;

/**
 * What a node knows that asks for changes, so that what has changed since its last answer is sent at once.
 *
 * @param nodeId            of the node.
 * @param incarnation       of its life.
 * @param epoch             the newest that it has heard of.
 * @param membershipVersion heard with it.
 */
public record NotificationRequest(int nodeId, int incarnation, long epoch, long membershipVersion)
{
}

package io.verbena.protocol.message;

/**
 * A memory node that has no lease, and is forgotten or may be.
 *
 * @param nodeId            1 to 65,535.
 * @param incarnation       of its last registration.
 * @param regionLengthBytes of its memory.
 * @param isForgotten       whether it is given up for good.
 */
public record ForgottenNode(int nodeId, int incarnation, long regionLengthBytes, boolean isForgotten)
{
}

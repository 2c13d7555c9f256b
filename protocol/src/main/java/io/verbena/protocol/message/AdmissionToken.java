package io.verbena.protocol.message;

import io.verbena.raas.identity.IdentitySecret;

/**
 * With what a compute node proves to one memory node who it is; known to these two and the meta server.
 *
 * @param nodeId      of the memory node.
 * @param incarnation of its registration.
 * @param round       from whose secret of the memory node it follows.
 * @param secret      of the compute node's registration, towards it.
 */
public record AdmissionToken(int nodeId, int incarnation, int round, IdentitySecret secret)
{
}

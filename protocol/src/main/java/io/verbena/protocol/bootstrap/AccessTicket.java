package io.verbena.protocol.bootstrap;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasContext;
import io.verbena.raas.identity.IdentitySecret;

/**
 * As whom a process connects to the nodes of a cluster.
 *
 * @param identity that it claims.
 * @param secret   that proves it to all of them.
 */
public record AccessTicket(PeerIdentity identity, IdentitySecret secret)
{
    /**
     * Lets a context connect as this from now on.
     *
     * @param raas of the process.
     */
    public void use(final RaasContext raas)
    {
        // At random: others who have the same ticket number their requests as well.
        raas.identity(identity, raas.device().random().nextLong(1, Long.MAX_VALUE >> 1), (peer) -> secret);
    }
}

package io.verbena.raas.identity;

import java.util.function.Function;

/**
 * What a server shares with the peers that connect to it. Secrets that are renewed overlap: a peer that has not heard
 * of the latest one yet proves itself by the one before. Asked by the server's owner thread.
 */
@FunctionalInterface
public interface IdentityVerifier
{
    /**
     * @param identity that a peer claims.
     * @return the latest secret of it; null: there is none, and who claims it proves nothing.
     */
    IdentitySecret secret(PeerIdentity identity);

    /**
     * @param identity that a peer claims, which has a {@link #secret}.
     * @return the one before, while that is still taken; null: there is none.
     */
    default IdentitySecret secretBefore(final PeerIdentity identity)
    {
        return null;
    }

    /**
     * @param latest as {@link #secret}.
     * @param before as {@link #secretBefore}.
     * @return both.
     */
    static IdentityVerifier of(
        final Function<PeerIdentity, IdentitySecret> latest, final Function<PeerIdentity, IdentitySecret> before)
    {
        return new IdentityVerifier()
        {
            @Override
            public IdentitySecret secret(final PeerIdentity identity)
            {
                return latest.apply(identity);
            }

            @Override
            public IdentitySecret secretBefore(final PeerIdentity identity)
            {
                return before.apply(identity);
            }
        };
    }
}
